// SamplingParams: how one sequence draws its tokens. A plain value; validate() before use (Sampler::create does).
//
// The stages, in this order: logit bias -> penalties -> min-tokens and ignore-eos masks -> temperature -> top-k -> typical ->
// top-p
// -> min-p -> pick. Each filter works on the renormalized distribution that the one before it left, and keeps at least one
// token.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/status.h"

namespace gainz {

struct SamplingParams {
  float temperature = 1.0f;         // 0: greedy, the lowest id among the best; no upper limit
  int32_t top_k = 0;                // the k best, lowest id on ties; 0: off
  float top_p = 1.0f;               // smallest set of the best with this much probability; 1: off, 0: the best alone
  float min_p = 0.0f;               // at least this share of the best one's probability; 0: off
  float typical_p = 1.0f;           // smallest set of the most typical with this much probability; 1: off
  float repetition_penalty = 1.0f;  // ids of prompt and output: positive logits divided, others multiplied; 1: off
  float presence_penalty = 0.0f;    // subtracted once from ids in the output
  float frequency_penalty = 0.0f;   // subtracted once for each occurrence in the output
  std::vector<std::pair<int32_t, float>> logit_bias;  // (id, added to its logit); an id at most once
  uint64_t seed = 0;
  int32_t min_tokens = 0;   // end ids and stop ids cannot be drawn before that many
  bool ignore_eos = false;  // end ids cannot be drawn at all
  int32_t logprobs = -1;    // -1: none; n: of the chosen token and of n alternatives
  std::vector<int32_t> stop_token_ids;

  // Errors: invalid, or limit_exceeded for a length; the sentence names the field, the value and the range.
  Status validate(int32_t vocab_size) const;
};

}  // namespace gainz
