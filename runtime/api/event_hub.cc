#include "api/event_hub.h"

#include <chrono>

namespace gainz {

static_assert(sizeof(TokenLogprob) == sizeof(gainz_token_logprob) &&
              offsetof(TokenLogprob, logprob) == offsetof(gainz_token_logprob, logprob));

EventHub::~EventHub() {
  for (Slot& slot : slots_)
    if (slot.record)
      while (slot.record->first) delete take(*slot.record);
  while (spare_) delete std::exchange(spare_, spare_->next);
}

gainz_request_id EventHub::open(gainz_model_id model) {
  auto record = std::make_unique<Record>();
  record->done.reset(make_new());  // it joins the spare ones when it has been read
  record->model = model;
  std::lock_guard lock(mutex_);
  if (free_slots_.empty()) {
    if (free_slots_.capacity() <= slots_.size())
      free_slots_.reserve(2 * slots_.size() + 16);  // erase() can then always give a slot back
    slots_.emplace_back();
    free_slots_.push_back(uint32_t(slots_.size() - 1));
  }
  const uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  record->id = uint64_t{++slot.generation} << 32 | (index + 1);
  slot.record = std::move(record);
  return slot.record->id;
}

EventHub::Record* EventHub::find(gainz_request_id id) {
  const uint64_t index = (id & UINT32_MAX) - 1;
  if (id == 0 || index >= slots_.size() || slots_[index].generation != id >> 32) return nullptr;
  return slots_[index].record.get();
}

void EventHub::erase(Record& record) {
  const uint32_t index = uint32_t(record.id & UINT32_MAX) - 1;
  unlink_ready(record);
  slots_[index].record.reset();
  free_slots_.push_back(index);
}

void EventHub::close(gainz_request_id id) {
  std::lock_guard lock(mutex_);
  if (Record* record = find(id)) erase(*record);
}

gainz_model_id EventHub::model_of(gainz_request_id id) {
  std::lock_guard lock(mutex_);
  const Record* record = find(id);
  return record ? record->model : 0;
}

Event* EventHub::make() {
  {
    std::lock_guard lock(mutex_);
    if (spare_) {
      --num_spare_;
      return std::exchange(spare_, spare_->next);
    }
  }
  return make_new();
}

Event* EventHub::make_new() {
  auto event = std::make_unique<Event>();
  event->sampled.top.reserve(kFirstAlternatives);
  event->text.reserve(kFirstTextBytes);
  return event.release();
}

void EventHub::reserve(size_t num_events) {
  for (size_t i = 0; i < num_events; ++i) discard(make_new());
}

void EventHub::discard(Event* event) {
  event->view = {};
  event->text.clear();
  event->error.clear();
  event->sampled.top.clear();
  event->values.clear();
  if (event->values.capacity() > kMaxSpareValues) event->values = {};  // rows of logits are large
  {
    std::lock_guard lock(mutex_);
    if (num_spare_ < kMaxSpareEvents) {
      event->next = spare_;
      spare_ = event;
      ++num_spare_;
      return;
    }
  }
  delete event;
}

void EventHub::release(const gainz_event* event) {
  if (event) discard(reinterpret_cast<Event*>(const_cast<gainz_event*>(event)));  // view is the first member
}

void EventHub::push(Event* event) {
  gainz_event& view = event->view;
  view.struct_size = sizeof(view);
  view.text = event->text.c_str();
  view.text_bytes = event->text.size();
  view.error = event->error.c_str();
  view.top = reinterpret_cast<const gainz_token_logprob*>(event->sampled.top.data());
  view.num_top = uint32_t(event->sampled.top.size());
  view.values = event->values.data();
  view.num_values = event->values.size();
  if (view.kind != GAINZ_EVENT_TOKEN && view.kind != GAINZ_EVENT_PROMPT_LOGPROB) view.id = -1;
  {
    std::lock_guard lock(mutex_);
    Record* record = find(view.request);
    if (record) append(*record, std::exchange(event, nullptr));
  }
  if (event) return discard(event);
  changed_.notify_all();
}

void EventHub::finish(const gainz_event& done, const std::string& text, const char* error) {
  Event* event = nullptr;
  {
    std::lock_guard lock(mutex_);
    Record* record = find(done.request);
    if (record) event = record->done.release();
  }
  if (!event) return;
  event->view = done;
  event->view.kind = GAINZ_EVENT_DONE;
  try {
    event->error = error;
    event->text = text;
  } catch (const std::bad_alloc&) {
    event->text.clear();
    if (event->view.code == GAINZ_OK) {
      event->view.code = GAINZ_OUT_OF_HOST_MEMORY;
      event->view.finish_reason = GAINZ_FINISH_ERROR;
    }
  }
  push(event);
}

void EventHub::append(Record& record, Event* event) {
  event->next = nullptr;
  (record.last ? record.last->next : record.first) = event;
  record.last = event;
  if (record.first != event) return;  // already among the ready
  record.ready_before = ready_last_;
  record.ready_after = nullptr;
  (ready_last_ ? ready_last_->ready_after : ready_first_) = &record;
  ready_last_ = &record;
}

Event* EventHub::take(Record& record) {
  Event* event = record.first;
  record.first = event->next;
  if (!record.first) {
    record.last = nullptr;
    unlink_ready(record);
  }
  return event;
}

void EventHub::unlink_ready(Record& record) {
  if (ready_first_ != &record && !record.ready_before) return;
  (record.ready_before ? record.ready_before->ready_after : ready_first_) = record.ready_after;
  (record.ready_after ? record.ready_after->ready_before : ready_last_) = record.ready_before;
  record.ready_before = record.ready_after = nullptr;
}

gainz_code EventHub::poll(gainz_request_id id, int32_t timeout_ms, const gainz_event** out_event) {
  std::unique_lock lock(mutex_);
  const auto available = [&] {
    if (id == 0) return ready_first_ != nullptr;
    const Record* record = find(id);
    return !record || record->first;
  };
  if (timeout_ms < 0)
    changed_.wait(lock, available);
  else if (!available() && (timeout_ms == 0 || !changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), available)))
    return GAINZ_BUSY;
  Record* record = id == 0 ? ready_first_ : find(id);
  if (!record) return GAINZ_NOT_FOUND;
  Event* event = take(*record);
  if (event->view.kind == GAINZ_EVENT_DONE) {
    erase(*record);
  } else if (id == 0 && record->first) {  // the next request's turn
    Event* rest = std::exchange(record->first, nullptr);
    unlink_ready(*record);
    record->first = rest;
    record->ready_before = ready_last_;
    (ready_last_ ? ready_last_->ready_after : ready_first_) = record;
    ready_last_ = record;
  }
  *out_event = &event->view;
  return GAINZ_OK;
}

}  // namespace gainz
