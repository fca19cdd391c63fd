#include "speculation/step_cost.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gainz {
namespace {

double true_us(uint32_t tokens, double attended) { return 1500 + 300 * std::max(0.0, tokens - 4.0) + 0.4 * attended; }

TEST(step_cost, knows_nothing_at_first) {
  StepCost cost;
  EXPECT_EQ(cost.predict_us(1, 100), 0);
  EXPECT_FALSE(cost.knows(1));
}

TEST(step_cost, learns_steps_and_contexts) {
  StepCost cost;
  for (uint32_t context = 10; context < 2000; context += 5)
    for (const uint32_t tokens : {1u, 4u, 9u})
      cost.observe(tokens, double(tokens) * context, true_us(tokens, double(tokens) * context));
  for (const uint32_t tokens : {1u, 4u, 9u})
    for (const double context : {20.0, 500.0, 4000.0})
      EXPECT_NEAR(cost.predict_us(tokens, tokens * context) / true_us(tokens, tokens * context), 1, 0.1)
          << tokens << " " << context;
  EXPECT_GT(cost.predict_us(6, 600), cost.predict_us(4, 400)) << "a line between two that are known";
  EXPECT_LT(cost.predict_us(6, 600), cost.predict_us(9, 900));
}

TEST(step_cost, a_step_that_was_held_up_does_not_count) {
  StepCost cost;
  for (int i = 0; i < 100; ++i) cost.observe(2, 50, i % 10 == 9 ? 50000 : 2000);
  EXPECT_NEAR(cost.predict_us(2, 50), 2000, 200);
}

TEST(step_cost, a_machine_that_became_slower_is_seen) {
  StepCost cost;
  for (int i = 0; i < 50; ++i) cost.observe(2, 50, 2000);
  for (int i = 0; i < 9; ++i) cost.observe(2, 50, 8000);
  EXPECT_NEAR(cost.predict_us(2, 50), 8000, 800);
}

TEST(step_cost, beyond_the_table_it_goes_on) {
  StepCost cost;
  for (int i = 0; i < 20; ++i) cost.observe(64, 640, 6400), cost.observe(65, 650, 1), cost.observe(0, 0, 1);
  EXPECT_NEAR(cost.predict_us(64, 640), 6400, 640);
  EXPECT_NEAR(cost.predict_us(128, 640), 12800, 1300);
}

}  // namespace
}  // namespace gainz
