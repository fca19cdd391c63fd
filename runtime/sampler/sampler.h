// Sampler: turns a row of logits into one token, for one sequence.
// Before: the Device returned logits rows. After: speculation accepts or rejects, StopMatcher and the stream get the text.
//
// The stages and their order are SamplingParams'. The pick is the arg-max of log-probability plus Gumbel noise that depends on
// (seed, position, token id) alone (noise.h), so the same sequence draws the same tokens whatever shares its batch and however
// often a position is replayed.
//
// Owner: the sequence. Threads: one at a time. Memory: all scratch is taken in create; afterwards nothing is allocated but the
// list of output ids where a penalty needs it (reserve_output avoids that too) and the alternatives of a SampledToken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "sampler/candidates.h"
#include "sampler/row_scan.h"
#include "sampler/sampling_params.h"

namespace gainz {

struct TokenLogprob {
  int32_t id = -1;
  float logprob = 0;
};

// Log-probabilities are the log-softmax of the row as the model gave it, before bias, penalties, masks, temperature and filters
// (what the OpenAI routes report by default in other servers). They are 0 and absent where SamplingParams::logprobs is -1.
struct SampledToken {
  int32_t id = -1;
  float logprob = 0;
  std::vector<TokenLogprob> top;  // best first, lower id on ties; fewer than asked where fewer are above -inf
};

class Sampler {
 public:
  // end_ids: the model's end-of-sequence tokens. Errors: those of SamplingParams::validate; invalid for an end id beyond the
  // vocabulary.
  static Result<Sampler> create(const SamplingParams& params, int32_t vocab_size, std::vector<int32_t> end_ids);

  // History for penalties and min_tokens. Ids beyond the vocabulary have no logit and so no effect.
  void observe_prompt(std::span<const int32_t> ids);
  void observe_output(int32_t id);
  void truncate(size_t num_output);  // forgets output beyond the first num_output ids; more than there are: no change
  void reset_output() { truncate(0); }
  void reserve_output(size_t num_output);  // room, so that observing that many allocates nothing
  size_t num_output() const { return num_output_; }

  // logits: [vocab], left as they are. position: absolute index in the sequence of the token to be drawn. allowed: empty, or
  // one bit an id, id i at bit i % 32 of word i / 32; (vocab + 31) / 32 words. Errors: invalid for a wrong size, a NaN or +inf
  // logit (names the id), and where no token is left to draw.
  Result<SampledToken> sample(std::span<const float> logits, uint64_t position, std::span<const uint32_t> allowed = {});
  // The same into a token whose storage is used again.
  Status sample_into(std::span<const float> logits, uint64_t position, std::span<const uint32_t> allowed,
                     SampledToken& out_token);

  // The distribution that sample draws from: (id, probability) best first, those above zero only. Allocates. Errors as sample.
  Result<std::vector<std::pair<int32_t, double>>> probabilities(std::span<const float> logits,
                                                                std::span<const uint32_t> allowed = {});

  const SamplingParams& params() const { return params_; }

 private:
  // What is known of an id; listed means that it is in seen_.
  struct Seen {
    uint32_t num_output = 0;
    bool in_prompt = false;
    bool listed = false;
  };
  // A row after bias, penalties and masks.
  struct Row {
    std::span<const float> logits;
    RowBest best;
  };

  Sampler(const SamplingParams& params, int32_t vocab_size, std::vector<int32_t> end_ids);
  Result<Row> adjust(std::span<const float> logits, std::span<const uint32_t> allowed);
  void apply_penalties();
  void apply_masks(std::span<const uint32_t> allowed);
  void fill_logprobs(std::span<const float> logits, float best, SampledToken& out_token);
  Seen* find_seen(int32_t id);

  SamplingParams params_;
  int32_t vocab_size_;
  std::vector<int32_t> end_ids_;
  bool has_repetition_, has_output_penalty_;
  std::vector<float> adjusted_;        // [vocab]
  std::vector<Candidate> candidates_;  // of filter_row
  std::vector<Candidate> best_;        // of the alternatives
  std::vector<Seen> seen_of_;          // [vocab], empty without penalties
  std::vector<int32_t> seen_;          // each id once
  std::vector<int32_t> output_;        // kept where a penalty needs it
  size_t num_output_ = 0;
};

}  // namespace gainz
