#include "server/core/event_pump.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>

namespace gainz::host {
namespace {

constexpr int32_t kWaitMs = 100;    // how soon the end of the server is seen
constexpr size_t kMaxBatch = 1024;  // events

GenerationEvent copy_of(const gainz_event& event) {
  GenerationEvent out;
  out.kind = event.kind;
  out.id = event.id;
  out.position = event.position;
  out.text.assign(event.text, event.text_bytes);
  out.logprob = event.logprob;
  if (event.num_top > 0) out.top.assign(event.top, event.top + event.num_top);
  if (event.num_values > 0) out.values.assign(event.values, event.values + event.num_values);
  out.num_prompt_tokens = event.num_prompt_tokens;
  if (event.kind != GAINZ_EVENT_DONE) return out;
  out.code = event.code;
  out.finish_reason = event.finish_reason;
  if (event.error != nullptr) out.error = event.error;
  out.num_cached_tokens = event.num_cached_tokens;
  out.num_generated_tokens = event.num_generated_tokens;
  out.num_preemptions = event.num_preemptions;
  out.seed = event.seed;
  out.queue_us = event.queue_us;
  out.prefill_us = event.prefill_us;
  out.decode_us = event.decode_us;
  std::copy_n(event.num_drafted, GAINZ_NUM_DRAFT_KINDS, out.num_drafted.begin());
  std::copy_n(event.num_accepted, GAINZ_NUM_DRAFT_KINDS, out.num_accepted.begin());
  return out;
}

}  // namespace

EventPump::EventPump(boost::asio::io_context& io, gainz_runtime* runtime, Deliver deliver)
    : io_(io), runtime_(runtime), deliver_(std::move(deliver)), thread_([this] { run(); }) {}

EventPump::~EventPump() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void EventPump::opened() {
  {
    const std::lock_guard lock(mutex_);
    if (++num_open_ != 1) return;
  }
  wake_.notify_one();
}

void EventPump::closed() {
  const std::lock_guard lock(mutex_);
  --num_open_;
}

void EventPump::run() {
  const auto poll = [this](int32_t timeout_ms) {
    const gainz_event* event = nullptr;
    return gainz_poll(runtime_, 0, timeout_ms, &event) == GAINZ_OK ? event : nullptr;
  };
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return is_stopping_ || num_open_ > 0; });
      if (is_stopping_) return;
    }
    const gainz_event* event = poll(kWaitMs);
    if (event == nullptr) continue;
    auto batch = std::make_shared<std::vector<Delivery>>();
    while (event != nullptr) {
      batch->push_back({reinterpret_cast<uintptr_t>(event->user), copy_of(*event)});
      gainz_event_release(runtime_, event);
      event = batch->size() < kMaxBatch ? poll(0) : nullptr;
    }
    boost::asio::post(io_, [this, batch] { deliver_(*batch); });
  }
}

}  // namespace gainz::host
