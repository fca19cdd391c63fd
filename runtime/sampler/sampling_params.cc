#include "sampler/sampling_params.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "sampler/limits.h"

namespace gainz {
namespace {

std::string text_of(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// NaN fails both comparisons and so is outside every range.
Status check_range(const char* field, double value, double lowest, double highest) {
  if (value >= lowest && value <= highest) return {};
  return {Code::invalid, std::string(field) + " is " + text_of(value) + ", which is not a number from " + text_of(lowest) +
                             " to " + text_of(highest)};
}

Status check_not_negative(const char* field, int64_t value) {
  if (value >= 0) return {};
  return {Code::invalid, std::string(field) + " is " + std::to_string(value) + ", which is below 0"};
}

Status check_id(const char* field, int32_t id, int32_t vocab_size) {
  if (id >= 0 && id < vocab_size) return {};
  return {Code::invalid, std::string(field) + " names token id " + std::to_string(id) + ", which is not from 0 to " +
                             std::to_string(vocab_size - 1) + " (the vocabulary)"};
}

Status check_logit_bias(const std::vector<std::pair<int32_t, float>>& logit_bias, int32_t vocab_size) {
  if (logit_bias.size() > static_cast<size_t>(vocab_size)) {
    return {Code::limit_exceeded, "logit_bias has " + std::to_string(logit_bias.size()) +
                                      " entries, more than the vocabulary's " + std::to_string(vocab_size) + " tokens"};
  }
  std::vector<int32_t> ids;
  ids.reserve(logit_bias.size());
  for (const auto& [id, bias] : logit_bias) {
    GAINZ_TRY(check_id("logit_bias", id, vocab_size));
    GAINZ_TRY(check_range(("logit_bias of token id " + std::to_string(id)).c_str(), bias, -kMaxLogitBias, kMaxLogitBias));
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) return {Code::invalid, "logit_bias names token id " + std::to_string(*twice) + " twice"};
  return {};
}

}  // namespace

Status SamplingParams::validate(int32_t vocab_size) const {
  if (vocab_size < 1 || vocab_size > kMaxVocabTokens) {
    return {Code::limit_exceeded, "the vocabulary has " + std::to_string(vocab_size) + " tokens, which is not from 1 to " +
                                      std::to_string(kMaxVocabTokens)};
  }
  if (!std::isfinite(temperature) || temperature < 0) {
    return {Code::invalid, "temperature is " + text_of(temperature) + ", which is not a finite number from 0 up"};
  }
  GAINZ_TRY(check_not_negative("top_k", top_k));
  GAINZ_TRY(check_range("top_p", top_p, 0, 1));
  GAINZ_TRY(check_range("min_p", min_p, 0, 1));
  GAINZ_TRY(check_range("typical_p", typical_p, 0, 1));
  GAINZ_TRY(check_range("repetition_penalty", repetition_penalty, 1.0f / kMaxRepetitionPenalty, kMaxRepetitionPenalty));
  GAINZ_TRY(check_range("presence_penalty", presence_penalty, -kMaxPenalty, kMaxPenalty));
  GAINZ_TRY(check_range("frequency_penalty", frequency_penalty, -kMaxPenalty, kMaxPenalty));
  GAINZ_TRY(check_logit_bias(logit_bias, vocab_size));
  GAINZ_TRY(check_not_negative("min_tokens", min_tokens));
  GAINZ_TRY(check_range("logprobs", logprobs, -1, kMaxNumLogprobs));
  if (stop_token_ids.size() > static_cast<size_t>(kMaxNumStopTokenIds)) {
    return {Code::limit_exceeded, "stop_token_ids has " + std::to_string(stop_token_ids.size()) + " ids, more than " +
                                      std::to_string(kMaxNumStopTokenIds)};
  }
  for (const int32_t id : stop_token_ids) GAINZ_TRY(check_id("stop_token_ids", id, vocab_size));
  return {};
}

}  // namespace gainz
