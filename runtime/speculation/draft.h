// Draft: guesses the tokens that come next, so that the target can check several of them in one step. The guess never decides
// anything: a drafted token stands if it is the one that the target's sampler picks there (docs/speculation.md).
//
// Owner: the sequence. Threads: the engine's. In steady state nothing is allocated: what a draft needs is taken when it is
// made.
#pragma once

#include <cstdint>
#include <span>

#include "gainz/gainz.h"

namespace gainz {

enum class DraftKind : uint8_t {
  ngram = GAINZ_DRAFT_NGRAM,            // runs of the sequence's own tokens that come back
  prediction = GAINZ_DRAFT_PREDICTION,  // the text that the caller expects
  cache = GAINZ_DRAFT_CACHE,            // what followed the same prefix before
  model = GAINZ_DRAFT_MODEL,            // a smaller model
  noise = GAINZ_DRAFT_NOISE,            // random tokens: the worst there is, for measurements
};
constexpr uint32_t kNumDraftKinds = GAINZ_NUM_DRAFT_KINDS;
constexpr uint32_t kMaxDraftTokens = GAINZ_MAX_DRAFT_TOKENS;

// How much speaks for a guess, from 0 to kNumTrusts - 1. Each level has an acceptance of its own (acceptance.h).
constexpr uint32_t kNumTrusts = 4;

struct Guess {
  uint32_t num_tokens = 0;
  uint32_t trust = 0;
};

class Draft {
 public:
  virtual ~Draft() = default;
  // tokens: the sequence so far; it only grows from call to call. Writes at most out.size() ids.
  virtual Guess guess(std::span<const int32_t> tokens, std::span<int32_t> out) = 0;
};

}  // namespace gainz
