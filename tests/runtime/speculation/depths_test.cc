#include "speculation/depths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gainz {
namespace {

// Steps of 1 ms for up to 4 tokens and 0.25 ms for each further one.
StepCost steps() {
  StepCost cost;
  for (uint32_t t = 1; t <= 64; ++t)
    for (int i = 0; i < 9; ++i) cost.observe(t, 0, 1000 * std::max(1.0, t / 4.0));
  return cost;
}

TEST(depths, while_nothing_is_known_there_are_none) {
  DepthQuestion question{.acceptance = 0.9, .most = 8};
  EXPECT_EQ(choose_depths(StepCost(), {.num_tokens = 1, .max_drafted = 16}, {&question, 1}), 0);
  EXPECT_EQ(question.depth, 0u);
}

// Against every depth tried in turn.
TEST(depths, one_sequence_gets_the_best_depth) {
  const StepCost cost = steps();
  for (const double p : {0.01, 0.1, 0.3, 0.6, 0.8, 0.9, 0.97, 0.995}) {
    DepthQuestion question{.acceptance = p, .most = 16};
    choose_depths(cost, {.num_tokens = 1, .max_drafted = 31}, {&question, 1});
    double best = 0, best_rate = 0, tokens = 1;
    for (uint32_t depth = 0; depth <= 16; ++depth) {
      const double rate = tokens / cost.predict_us(1 + depth, 0);
      if (rate > best_rate * (1 + 1e-12)) best_rate = rate, best = depth;
      tokens += std::pow(p, depth + 1);
    }
    EXPECT_EQ(question.depth, best) << p;
  }
}

TEST(depths, a_draft_that_costs_too_much_is_left) {
  const StepCost cost = steps();
  DepthQuestion free{.acceptance = 0.8, .most = 8}, dear = free;
  dear.draft_us = 900;
  choose_depths(cost, {.num_tokens = 1, .max_drafted = 31}, {&free, 1});
  choose_depths(cost, {.num_tokens = 1, .max_drafted = 31}, {&dear, 1});
  EXPECT_GT(free.depth, 2u);
  EXPECT_EQ(dear.depth, 0u);
}

TEST(depths, the_better_guess_gets_more_and_bounds_hold) {
  const StepCost cost = steps();
  DepthQuestion questions[3] = {
      {.acceptance = 0.95, .most = 16}, {.acceptance = 0.3, .most = 16}, {.acceptance = 0.95, .most = 2}};
  choose_depths(cost, {.num_tokens = 3, .max_drafted = 29}, questions);
  EXPECT_GT(questions[0].depth, questions[1].depth);
  EXPECT_LE(questions[2].depth, 2u);
  choose_depths(cost, {.num_tokens = 3, .max_drafted = 1}, questions);
  EXPECT_EQ(questions[0].depth + questions[1].depth + questions[2].depth, 1u);
  choose_depths(cost, {.num_tokens = 3, .max_drafted = 29, .max_delay = 1.25}, questions);
  EXPECT_LE(cost.predict_us(3 + questions[0].depth + questions[1].depth + questions[2].depth, 0), 1250 * 1.001);
}

TEST(depths, a_full_batch_is_left_alone) {
  const StepCost cost = steps();
  std::vector<DepthQuestion> questions(16, {.acceptance = 0.5, .most = 8});
  choose_depths(cost, {.num_tokens = 16, .max_drafted = 16, .least_gain = 0.02}, questions);
  for (const DepthQuestion& question : questions) EXPECT_EQ(question.depth, 0u);
}

}  // namespace
}  // namespace gainz
