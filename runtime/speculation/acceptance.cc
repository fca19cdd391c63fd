#include "speculation/acceptance.h"

#include <algorithm>

namespace gainz {
namespace {

constexpr double kDecay = 0.97;     // about the last 33 tokens count
constexpr double kPriorWeight = 4;  // tokens that the prior is worth
constexpr double kFirstGuess[kNumTrusts] = {0.35, 0.5, 0.65, 0.8};
constexpr double kFirstGuessOfModel = 0.7;
constexpr double kLeast = 0.005, kMost = 0.995;

}  // namespace

void Acceptance::observe(DraftKind kind, uint32_t trust, uint32_t num_accepted, bool rejected) {
  Cell& cell = cells_[size_t(kind)][trust];
  for (uint32_t i = 0; i < num_accepted + (rejected ? 1u : 0u); ++i) {
    cell.accepted = cell.accepted * kDecay + (i < num_accepted ? 1 : 0);
    cell.tested = cell.tested * kDecay + 1;
  }
}

double Acceptance::estimate(DraftKind kind, uint32_t trust) const {
  const Cell& cell = cells_[size_t(kind)][trust];
  const double prior = common_                    ? common_->estimate(kind, trust)
                       : kind == DraftKind::model ? kFirstGuessOfModel
                                                  : kFirstGuess[trust];
  return std::clamp((cell.accepted + kPriorWeight * prior) / (cell.tested + kPriorWeight), kLeast, kMost);
}

}  // namespace gainz
