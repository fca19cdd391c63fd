// Request: what a caller wants, checked and tokenized, and Event: what comes back. Plain values.
//
// Before: the C API makes a Request on the caller's thread. After: Engine turns it into a Sequence and pushes Events.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gainz/gainz.h"
#include "sampler/sampler.h"

namespace gainz {

struct Request {
  gainz_request_id id = 0;
  void* user = nullptr;
  uint32_t kind = GAINZ_REQUEST_GENERATE;
  std::vector<int32_t> prompt;  // never empty
  int32_t max_tokens = -1;
  SamplingParams sampling;
  std::vector<std::string> stops;
  int32_t priority = 0;
  bool use_cache = true;
  std::string salt;
  int32_t prompt_logprobs = -1;
  uint32_t pooling = GAINZ_POOLING_MEAN;
  std::vector<uint32_t> positions;  // LOGITS
  uint32_t num_generated_ids = 0;   // LOGITS: trailing ids fed one by one as generated tokens
  uint64_t submitted_us = 0;
  uint64_t deadline_us = 0;  // 0: none
  uint32_t preempt_after = 0;
  gainz_speculation speculation{};  // mode is none of DEFAULT
  std::vector<int32_t> prediction;  // ids
};

// One event with its storage. `view` points into the other members.
struct Event {
  gainz_event view{};
  std::string text, error;
  SampledToken sampled;
  std::vector<float> values;
  Event* next = nullptr;
};

// Where the engine's events go. Threads: called from the engine's thread (and from submit's for what fails there).
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void reserve(size_t num_events) = 0;  // room for so many more at once; may throw std::bad_alloc
  virtual Event* make() = 0;                    // empty, storage reused where possible; may throw std::bad_alloc
  virtual void push(Event* event) = 0;          // takes it; never fails
  virtual void discard(Event* event) = 0;       // one that is not to be sent
  // The last event of a request, which was set aside when the request was accepted. Never fails: when there is no memory for
  // the sentence, the code alone is told.
  virtual void finish(const gainz_event& done, const std::string& text, const char* error) = 0;
};

// An event in the making: goes back to the sink unless it is taken, so that none is lost where memory runs out half way.
class PendingEvent {
 public:
  explicit PendingEvent(EventSink& sink) : sink_(sink), event_(sink.make()) {}
  ~PendingEvent() {
    if (event_) sink_.discard(event_);
  }
  PendingEvent(const PendingEvent&) = delete;
  PendingEvent& operator=(const PendingEvent&) = delete;
  Event* operator->() const { return event_; }
  Event* take() { return std::exchange(event_, nullptr); }

 private:
  EventSink& sink_;
  Event* event_;
};

}  // namespace gainz
