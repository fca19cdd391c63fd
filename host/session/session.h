// One runtime with the program's settings, and one model in it. Owns both; destroy it last. One thread, except cancel().
#pragma once

#include <gainz/gainz.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.h"
#include "session/log_sink.h"
#include "session/runtime_config.h"

namespace gainz::host {

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(const Settings& settings);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // A bar on the terminal while it loads; Ctrl-C stops it. Changes win over the settings (bench sizes its own pages).
  Outcome load(const std::string& path, const Settings& settings, const std::function<void(gainz_model_config&)>& change = {});
  Outcome unload();
  Outcome refresh_devices();

  gainz_runtime* runtime() { return runtime_; }
  gainz_model_id model() const { return model_; }
  const gainz_model_info& info() const { return info_; }  // of the loaded model

  // What a model file holds, as JSON text.
  Result<std::string> inspect(const std::string& path);

 private:
  Session() = default;
  std::unique_ptr<LogSink> log_;
  gainz_runtime* runtime_ = nullptr;
  gainz_model_id model_ = 0;
  gainz_model_info info_{};
};

// "a · b · c" of the loaded model: name, device, instruction set.
std::string model_line(const gainz_model_info& info);

struct TokenLogprob {
  int32_t id;
  float logprob;
  std::string text;
  std::vector<gainz_token_logprob> top;
};

struct Answer {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<TokenLogprob> logprobs;  // if asked
  std::string finish_reason;           // stop, length, cancelled, timeout
  uint32_t num_prompt_tokens = 0, num_cached_tokens = 0, num_generated_tokens = 0, num_preemptions = 0;
  uint64_t seed = 0;
  double queue_seconds = 0, prefill_seconds = 0, decode_seconds = 0;
  std::array<uint32_t, GAINZ_NUM_DRAFT_KINDS> num_drafted{}, num_accepted{};  // tokens, by GAINZ_DRAFT_*
};

// Submits and takes the events to the last one. on_text gets whole characters as they come. Ctrl-C cancels: finish_reason is
// then "cancelled". A request that fails is a Failure with the runtime's sentence.
Result<Answer> generate(Session& session, const gainz_request_config& request,
                        const std::function<void(std::string_view)>& on_text);

// The runtime's sampling with the settings' values.
gainz_sampling sampling_of(const Settings& settings);

}  // namespace gainz::host
