// The naive meaning of sampling, to compare with: sorts everything, libm's functions, one stage after another. Tests only.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sampler/sampling_params.h"

namespace gainz {

struct ReferenceHistory {
  std::vector<int32_t> prompt, output, end_ids;
};

// (id, probability) best first; empty where nothing can be drawn. allowed: one flag an id, or empty.
std::vector<std::pair<int32_t, double>> reference_probabilities(const SamplingParams& params, const ReferenceHistory& history,
                                                                std::span<const float> logits,
                                                                const std::vector<bool>& allowed);

}  // namespace gainz
