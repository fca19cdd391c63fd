#include "speculation/acceptance.h"

#include <gtest/gtest.h>

namespace gainz {
namespace {

TEST(acceptance, comes_to_what_is_seen) {
  Acceptance common(nullptr), one(&common);
  for (int i = 0; i < 400; ++i) one.observe(DraftKind::ngram, 2, 3, true);  // three of four
  EXPECT_NEAR(one.estimate(DraftKind::ngram, 2), 0.75, 0.05);
  for (int i = 0; i < 60; ++i) one.observe(DraftKind::ngram, 2, 0, true);
  EXPECT_LT(one.estimate(DraftKind::ngram, 2), 0.2) << "a change shows within some dozen tokens";
  EXPECT_EQ(one.estimate(DraftKind::ngram, 1), common.estimate(DraftKind::ngram, 1)) << "levels of trust keep apart";
  EXPECT_EQ(one.estimate(DraftKind::cache, 2), common.estimate(DraftKind::cache, 2)) << "and so do kinds";
}

TEST(acceptance, a_new_sequence_begins_with_what_others_have_seen) {
  Acceptance common(nullptr), before(&common);
  const double first = before.estimate(DraftKind::model, 0);
  for (int i = 0; i < 100; ++i) common.observe(DraftKind::model, 0, 0, true);
  Acceptance after(&common);
  EXPECT_LT(after.estimate(DraftKind::model, 0), first / 3);
  EXPECT_GT(after.estimate(DraftKind::model, 0), 0);
}

TEST(acceptance, never_reaches_the_ends) {
  Acceptance common(nullptr);
  for (int i = 0; i < 10000; ++i) common.observe(DraftKind::ngram, 0, 16, false), common.observe(DraftKind::ngram, 1, 0, true);
  EXPECT_LT(common.estimate(DraftKind::ngram, 0), 1);
  EXPECT_GT(common.estimate(DraftKind::ngram, 1), 0);
}

}  // namespace
}  // namespace gainz
