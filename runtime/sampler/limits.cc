#include "sampler/limits.h"

namespace gainz {

std::span<const std::pair<std::string_view, double>> sampler_limits() {
  static constexpr std::pair<std::string_view, double> kLimits[] = {
      {"max_vocab_tokens", kMaxVocabTokens},
      {"max_num_logprobs", kMaxNumLogprobs},
      {"max_num_stop_token_ids", kMaxNumStopTokenIds},
      {"max_num_stop_strings", kMaxNumStopStrings},
      {"max_stop_string_bytes", kMaxStopStringBytes},
      {"max_logit_bias", kMaxLogitBias},
      {"max_penalty", kMaxPenalty},
      {"max_repetition_penalty", kMaxRepetitionPenalty},
  };
  return kLimits;
}

}  // namespace gainz
