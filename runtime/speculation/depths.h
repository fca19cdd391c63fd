// How many drafted tokens each sequence brings to the next step: as many as make the most tokens a second of all sequences
// together, by the time that the step is expected to take and the acceptance that the guesses are expected to find.
//
// With acceptance p of each token, the token number j of a guess stands with probability p^j (Leviathan, Kalman, Matias 2023,
// section 3), so tokens are added in the order of that probability, and of all prefixes of that order the best is kept. Plain
// functions of their arguments.
#pragma once

#include <cstdint>
#include <span>

#include "speculation/step_cost.h"

namespace gainz {

struct DepthQuestion {
  double acceptance = 0;  // of one token
  double draft_us = 0;    // to draft one token
  uint32_t most = 0;      // tokens of the guess
  uint32_t context = 0;   // tokens before it
  uint32_t depth = 0;     // out
};

struct DepthLimits {
  uint32_t num_tokens = 0;   // that the step holds without drafts
  double attended = 0;       // the sum of their context lengths
  uint32_t max_drafted = 0;  // in the step
  double max_delay = 0;      // the step may take so many times as long as without drafts; 0: any
  double least_gain = 0;     // share by which the rate must rise
};

// Returns the expected rate, in tokens a microsecond; 0 while nothing is known of a step's time (and then no drafts).
double choose_depths(const StepCost& cost, const DepthLimits& limits, std::span<DepthQuestion> questions);

}  // namespace gainz
