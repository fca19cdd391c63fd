// Acceptance: how likely the next token of a draft is the target's own, by kind of draft and by the trust in the guess.
//
// A running mean over the last tokens that were tested (weights fall by kDecay), pulled towards what the engine has seen in all
// sequences, and that towards a first guess. Owner: a sequence, or the engine for the common one. Threads: the engine's.
#pragma once

#include <array>

#include "speculation/draft.h"

namespace gainz {

class Acceptance {
 public:
  // common: the engine's, which outlives this; null for that one itself.
  explicit Acceptance(const Acceptance* common) : common_(common) {}

  // A guess was checked: its first num_accepted tokens stood, and the next, if `rejected`, did not.
  void observe(DraftKind kind, uint32_t trust, uint32_t num_accepted, bool rejected);
  double estimate(DraftKind kind, uint32_t trust) const;  // of one token, in (0, 1)

 private:
  struct Cell {
    double accepted = 0, tested = 0;
  };
  std::array<std::array<Cell, kNumTrusts>, kNumDraftKinds> cells_{};
  const Acceptance* common_;
};

}  // namespace gainz
