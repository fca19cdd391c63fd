// EventHub: the requests of one runtime and the events that wait to be polled.
//
// Before: Engine pushes events. After: gainz_poll hands them out. A request's last event is set aside when the request is
// opened, so that it can always be delivered; a request leaves the table when that event has been taken. Owner: the runtime.
// Threads: any.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/request.h"

namespace gainz {

class EventHub : public EventSink {
 public:
  EventHub() = default;
  ~EventHub() override;

  // A new id for a request of `model`. Errors: out_of_host_memory (thrown as std::bad_alloc).
  gainz_request_id open(gainz_model_id model);
  void close(gainz_request_id id);               // submit failed: no event will come
  gainz_model_id model_of(gainz_request_id id);  // 0: no such request

  void reserve(size_t num_events) override;
  Event* make() override;
  void push(Event* event) override;
  void discard(Event* event) override;
  void finish(const gainz_event& done, const std::string& text, const char* error) override;

  // timeout_ms as gainz_poll. Codes: OK, BUSY, NOT_FOUND.
  gainz_code poll(gainz_request_id id, int32_t timeout_ms, const gainz_event** out_event);
  void release(const gainz_event* event);

 private:
  struct Record {
    gainz_request_id id = 0;
    gainz_model_id model = 0;
    Event* first = nullptr;
    Event* last = nullptr;
    std::unique_ptr<Event> done;  // until finish() moves it into the list
    Record* ready_before = nullptr;
    Record* ready_after = nullptr;
  };
  struct Slot {
    uint32_t generation = 0;
    std::unique_ptr<Record> record;
  };
  static constexpr size_t kMaxSpareEvents = 256;
  static constexpr size_t kMaxSpareValues = 1024;
  static constexpr size_t kFirstAlternatives = 20, kFirstTextBytes = 64;  // an event has room for from the beginning

  Record* find(gainz_request_id id);
  void append(Record& record, Event* event);
  static Event* make_new();
  Event* take(Record& record);
  void unlink_ready(Record& record);
  void erase(Record& record);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  Record* ready_first_ = nullptr;
  Record* ready_last_ = nullptr;
  Event* spare_ = nullptr;
  size_t num_spare_ = 0;
};

}  // namespace gainz
