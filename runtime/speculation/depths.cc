#include "speculation/depths.h"

#include <cmath>

namespace gainz {

double choose_depths(const StepCost& cost, const DepthLimits& limits, std::span<DepthQuestion> questions) {
  for (DepthQuestion& question : questions) question.depth = 0;
  const double plain_us = cost.predict_us(limits.num_tokens, limits.attended);
  if (plain_us == 0) return 0;  // the first steps are plain: they tell what a step costs
  double expected = double(limits.num_tokens), attended = limits.attended, draft_us = 0;
  double best_rate = expected / plain_us * (1 + limits.least_gain);
  uint32_t best = 0;
  // Twice the same walk: first to find the best length of the order, then to take it.
  for (const bool take : {false, true}) {
    if (take) {
      for (DepthQuestion& question : questions) question.depth = 0;
    }
    for (uint32_t added = 0; added < (take ? best : limits.max_drafted); ++added) {
      DepthQuestion* next = nullptr;
      double next_chance = 0;
      for (DepthQuestion& question : questions) {
        if (question.depth == question.most) continue;
        const double chance = std::pow(question.acceptance, question.depth + 1);
        if (chance > next_chance) next = &question, next_chance = chance;
      }
      if (!next) break;
      ++next->depth;
      expected += next_chance;
      attended += next->context + next->depth;
      draft_us += next->draft_us;
      const double step_us = cost.predict_us(limits.num_tokens + added + 1, attended);
      if (limits.max_delay > 0 && step_us + draft_us > plain_us * limits.max_delay) break;
      const double rate = expected / (step_us + draft_us);
      if (!take && rate > best_rate) best_rate = rate, best = added + 1;
    }
  }
  return best_rate;
}

}  // namespace gainz
