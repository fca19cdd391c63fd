// Generation: one request inside the runtime, seen from a coroutine. Made by Generations::start, which admits it (queue bound,
// limits per key), tokenizes and submits off the network thread, and counts it in the metrics. Destroying one that has not
// ended cancels it. Thread: the network thread.
#pragma once

#include <gainz/gainz.h>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gainz::host {

class Exchange;
class ServedModel;

// What gainz_request_config says, owning all of it. Exactly one of prompt_ids, prompt and messages_json.
struct GenerationRequest {
  uint32_t kind = GAINZ_REQUEST_GENERATE;
  uint32_t flags = 0;  // GAINZ_REQUEST_*
  std::vector<int32_t> prompt_ids;
  std::optional<std::string> prompt;
  std::optional<std::string> messages_json, tools_json, vars_json;
  std::string cache_salt;
  int32_t priority = 0;
  gainz_sampling sampling;  // its pointers are set from the three below on submit
  std::vector<gainz_logit_bias> logit_bias;
  std::vector<std::string> stop;
  std::vector<int32_t> stop_token_ids;
  int32_t prompt_logprobs = -1;
  uint32_t pooling = GAINZ_POOLING_MEAN;
  uint32_t timeout_ms = 0;  // 0: the server's maximum
  gainz_speculation speculation{sizeof(gainz_speculation), GAINZ_SPECULATION_DEFAULT, 0, 0};
  std::optional<std::string> prediction;

  GenerationRequest() { gainz_sampling_init(&sampling); }
};

// What the OpenAI routes call the prompt of a request.
inline const char* prompt_field(const GenerationRequest& request) {
  return request.messages_json ? "messages" : request.kind == GAINZ_REQUEST_EMBED ? "input" : "prompt";
}

struct GenerationEvent {  // gainz_event, owning its text
  uint32_t kind = 0;      // GAINZ_EVENT_*
  int32_t id = -1;
  uint32_t position = 0;
  std::string text;
  float logprob = 0;
  std::vector<gainz_token_logprob> top;
  std::vector<float> values;
  gainz_code code = GAINZ_OK;  // from here on: GAINZ_EVENT_DONE
  uint32_t finish_reason = 0;
  std::string error;
  uint32_t num_prompt_tokens = 0, num_cached_tokens = 0, num_generated_tokens = 0, num_preemptions = 0;
  uint64_t seed = 0;
  uint64_t queue_us = 0, prefill_us = 0, decode_us = 0;
  std::array<uint32_t, GAINZ_NUM_DRAFT_KINDS> num_drafted{}, num_accepted{};
};

class Generation {
 public:
  virtual ~Generation() = default;
  // The next event; GAINZ_EVENT_DONE is the last. Events already here are answered without waiting.
  virtual boost::asio::awaitable<GenerationEvent> next() = 0;
  virtual std::optional<GenerationEvent> try_next() = 0;  // nothing: none is here yet
  virtual void cancel() = 0;                              // DONE comes within one slice
  // The timer is cancelled whenever an event comes, so that one coroutine can wait for several generations.
  virtual void wake(std::shared_ptr<boost::asio::steady_timer> timer) = 0;
};

class Generations {
 public:
  virtual ~Generations() = default;
  // Throws ApiError: 429 (queue full, key's rate or concurrency), 400 (what the runtime refuses), 503 (draining, model gone).
  virtual boost::asio::awaitable<std::unique_ptr<Generation>> start(Exchange& exchange, std::shared_ptr<ServedModel> model,
                                                                    GenerationRequest request) = 0;
};

}  // namespace gainz::host
