// What one prompt and a chat share: the request made from options and settings, and the lines around an answer. One thread.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "session/session.h"

namespace gainz::host {

struct Message {
  std::string role;  // system, user, assistant
  std::string content;
};
std::string messages_json(const std::vector<Message>& messages);  // bytes that are not UTF-8 become U+FFFD

// A request whose sampling points into `options` and itself; neither copyable nor movable for that reason.
class AnswerRequest {
 public:
  AnswerRequest(const Session& session, const Settings& settings, const RunOptions& options);
  AnswerRequest(const AnswerRequest&) = delete;
  AnswerRequest& operator=(const AnswerRequest&) = delete;

  gainz_request_config& config() { return config_; }

 private:
  std::vector<gainz_logit_bias> logit_bias_;
  std::vector<const char*> stop_;
  gainz_request_config config_;
};

// "12 prompt tokens (0 cached) in 35 ms · 64 tokens in 1.20 s · 53.1 tokens/s · stop"
std::string timing_line(const Answer& answer);

// The chat of `gainz run` without a prompt. Ends at the end of input, at /exit, or at Ctrl-C while it waits for a line.
Outcome chat(Session& session, const Settings& settings, const RunOptions& options);

}  // namespace gainz::host
