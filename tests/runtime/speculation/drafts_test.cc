#include <gtest/gtest.h>

#include <numeric>

#include "speculation/ngram_draft.h"
#include "speculation/noise_draft.h"
#include "speculation/prediction_draft.h"

namespace gainz {
namespace {

using Ids = std::vector<int32_t>;

Ids guessed(Draft& draft, const Ids& tokens, size_t room = 4) {
  Ids out(room);
  out.resize(draft.guess(tokens, out).num_tokens);
  return out;
}

TEST(ngram_draft, guesses_the_continuation_and_goes_round) {
  NgramDraft draft(64);
  EXPECT_EQ(guessed(draft, {1, 2, 3, 4, 5, 1, 2}), (Ids{3, 4, 5, 1}));
  NgramDraft loop(64);
  EXPECT_EQ(guessed(loop, {9, 7, 8, 7, 8}, 5), (Ids{7, 8, 7, 8, 7})) << "beyond the end the repetition goes on";
  NgramDraft nothing(64);
  EXPECT_TRUE(guessed(nothing, {1, 2, 3, 4}).empty());
  EXPECT_TRUE(guessed(nothing, {1, 2, 3, 4, 5}, 0).empty());
}

// A copy in which 2 becomes 20: once seen, it is expected, and the copy goes on.
TEST(ngram_draft, expects_a_replacement_again) {
  NgramDraft draft(64);
  Ids tokens = {1, 2, 3, 4, 5, 2, 6, 7, 8, 2, 9, 50, 1};
  EXPECT_TRUE(guessed(draft, tokens, 1).empty());
  tokens.insert(tokens.end(), {20, 3, 4});
  EXPECT_EQ(guessed(draft, tokens, 3), (Ids{5, 2, 6})) << "where it began is not known";
  tokens.insert(tokens.end(), {5, 20});
  EXPECT_EQ(guessed(draft, tokens, 5), (Ids{6, 7, 8, 20, 9}));
  tokens.insert(tokens.end(), {6, 7, 8, 2});
  EXPECT_EQ(guessed(draft, tokens, 1), (Ids{9})) << "and kept after all";
}

TEST(replacements, are_known_until_they_are_not_made) {
  Replacements replacements;
  EXPECT_EQ(replacements.of(5), 5);
  replacements.observe(5, 7);
  EXPECT_EQ(replacements.of(5), 7);
  EXPECT_EQ(replacements.of(6), 6);
  replacements.observe(5, 8);
  EXPECT_EQ(replacements.of(5), 8);
  replacements.observe(5, 5);
  EXPECT_EQ(replacements.of(5), 5);
}

TEST(ngram_draft, trusts_a_longer_match_more) {
  Ids out(4), tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 100};
  uint32_t last = 0;
  for (int i = 1; i <= 11; ++i) {
    tokens.push_back(i);
    NgramDraft draft(64);
    const Guess guess = draft.guess(tokens, out);
    EXPECT_GE(guess.trust, last);
    EXPECT_LT(guess.trust, kNumTrusts);
    last = guess.trust;
  }
  EXPECT_EQ(last, kNumTrusts - 1);
}

// What a prediction guesses after each token of an answer.
Ids firsts(PredictionDraft& draft, Ids tokens, const Ids& answer) {
  Ids out;
  for (const int32_t id : answer) {
    const Ids guess = guessed(draft, tokens, 1);
    out.push_back(guess.empty() ? -1 : guess[0]);
    tokens.push_back(id);
  }
  return out;
}

TEST(prediction_draft, is_followed_from_its_beginning_to_its_end) {
  PredictionDraft draft({10, 11, 12}, 2);
  EXPECT_EQ(firsts(draft, {1, 2}, {10, 11, 12, 13}), (Ids{10, 11, 12, -1}));
}

TEST(prediction_draft, finds_back_after_a_replaced_an_inserted_and_a_left_out_token) {
  const Ids prediction = {10, 11, 12, 13, 14, 15, 16, 17};
  PredictionDraft replaced(prediction, 1), inserted(prediction, 1), left_out(prediction, 1);
  EXPECT_EQ(firsts(replaced, {1}, {10, 99, 12, 13}), (Ids{10, 11, 12, 13}));
  EXPECT_EQ(firsts(inserted, {1}, {10, 99, 11, 12}), (Ids{10, 11, 12, 12}));
  EXPECT_EQ(firsts(left_out, {1}, {10, 14, 15, 16, 17}), (Ids{10, 11, 12, 16, 17})) << "one more token, and the pair tells";
}

TEST(prediction_draft, is_lost_and_found) {
  const Ids prediction = {10, 11, 12, 13, 14, 15, 16, 17};
  PredictionDraft draft(prediction, 1);
  EXPECT_EQ(firsts(draft, {1}, {70, 71, 72, 73, 13, 14, 15}), (Ids{10, 11, -1, -1, -1, -1, 15}));
}

TEST(prediction_draft, of_nothing_guesses_nothing) {
  PredictionDraft draft({}, 1);
  EXPECT_EQ(firsts(draft, {1}, {5, 6, 7}), (Ids{-1, -1, -1}));
}

TEST(noise_draft, stays_in_the_vocabulary) {
  NoiseDraft draft(7);
  Ids tokens;
  for (int i = 0; i < 1000; ++i, tokens.push_back(i))
    for (const int32_t id : guessed(draft, tokens, 16)) ASSERT_TRUE(id >= 0 && id < 7) << id;
}

}  // namespace
}  // namespace gainz
