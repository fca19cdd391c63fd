// One pass over a row of logits: the best one, and whether the row is a row of logits at all. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"

namespace gainz {

struct RowBest {
  float logit;  // -inf where every logit is
  int32_t id;   // the lowest id with that logit (0.0 and -0.0 are equal)
};

// logits: [vocab], at least one. -inf is legal (a masked token). Errors: invalid for NaN and +inf, naming the first such id.
Result<RowBest> scan_row(std::span<const float> logits);

}  // namespace gainz
