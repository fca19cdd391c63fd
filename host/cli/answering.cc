#include "cli/answering.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <numeric>

#include "base/json_text.h"
#include "base/text.h"

namespace gainz::host {

std::string messages_json(const std::vector<Message>& messages) {
  boost::json::array items;
  for (const Message& message : messages) items.push_back({{"role", message.role}, {"content", valid_utf8(message.content)}});
  return json_text(items);
}

AnswerRequest::AnswerRequest(const Session& session, const Settings& settings, const RunOptions& options) {
  gainz_request_config_init(&config_);
  config_.model = session.model();
  gainz_sampling& sampling = config_.sampling = sampling_of(settings);
  for (const auto& [id, bias] : options.logit_bias) logit_bias_.push_back({id, bias});
  for (const std::string& text : options.stop) stop_.push_back(text.c_str());
  sampling.logit_bias = logit_bias_.data();
  sampling.num_logit_bias = logit_bias_.size();
  sampling.stop = stop_.data();
  sampling.num_stop = stop_.size();
  sampling.stop_token_ids = options.stop_token_ids.data();
  sampling.num_stop_token_ids = options.stop_token_ids.size();
  sampling.seed = options.seed.value_or(0);
  sampling.has_seed = options.seed ? 1 : 0;
  sampling.ignore_eos = options.ignore_eos ? 1 : 0;
  sampling.logprobs = options.logprobs;
}

std::string timing_line(const Answer& answer) {
  std::string line =
      fmt::format("{} prompt tokens ({} cached) in {} · {} tokens in {}", answer.num_prompt_tokens, answer.num_cached_tokens,
                  format_seconds(answer.prefill_seconds), answer.num_generated_tokens, format_seconds(answer.decode_seconds));
  // The first token comes with the prompt; the time after it is that of the others.
  if (answer.num_generated_tokens > 1 && answer.decode_seconds > 0) {
    line += fmt::format(" · {:.1f} tokens/s", (answer.num_generated_tokens - 1) / answer.decode_seconds);
  }
  const uint32_t drafted = std::accumulate(answer.num_drafted.begin(), answer.num_drafted.end(), 0u);
  if (drafted > 0) {
    line += fmt::format(" · {} of {} guesses stood",
                        std::accumulate(answer.num_accepted.begin(), answer.num_accepted.end(), 0u), drafted);
  }
  return fmt::format("{} · {} · seed {}", line, answer.finish_reason, answer.seed);
}

}  // namespace gainz::host
