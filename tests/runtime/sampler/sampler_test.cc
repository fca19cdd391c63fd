#include "sampler/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/sampler/reference_sampler.h"

namespace gainz {
namespace {

using testing::HasSubstr;
using Distribution = std::vector<std::pair<int32_t, double>>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Sampler make(const SamplingParams& params, size_t vocab_size, std::vector<int32_t> end_ids = {}) {
  auto sampler = Sampler::create(params, static_cast<int32_t>(vocab_size), std::move(end_ids));
  EXPECT_TRUE(sampler.ok()) << sampler.status().message();
  return std::move(sampler).value();
}

std::vector<float> logs(const std::vector<double>& probabilities) {
  std::vector<float> out;
  for (const double p : probabilities) out.push_back(static_cast<float>(std::log(p)));
  return out;
}

void expect_distribution(Sampler sampler, const std::vector<float>& logits, const Distribution& expected) {
  const auto actual = sampler.probabilities(logits);
  ASSERT_TRUE(actual.ok()) << actual.status().message();
  ASSERT_EQ(actual->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*actual)[i].first, expected[i].first) << i;
    EXPECT_NEAR((*actual)[i].second, expected[i].second, 1e-6) << i;
  }
}

TEST(Sampler, NoFilterIsSoftmax) { expect_distribution(make({}, 3), logs({0.2, 0.5, 0.3}), {{1, 0.5}, {2, 0.3}, {0, 0.2}}); }

TEST(Sampler, Temperature) {
  SamplingParams params;
  params.temperature = 0.5f;  // squares
  expect_distribution(make(params, 3), logs({0.2, 0.5, 0.3}), {{1, 0.25 / 0.38}, {2, 0.09 / 0.38}, {0, 0.04 / 0.38}});
  params.temperature = 0;
  expect_distribution(make(params, 4), {1, 3, 3, 2}, {{1, 1}});
  params.temperature = std::numeric_limits<float>::denorm_min();
  expect_distribution(make(params, 3), {1, 3, 2.999f}, {{1, 1}});
  params.temperature = 1e6f;
  expect_distribution(make(params, 2), {-1, 1}, {{1, 0.5 + 5e-7}, {0, 0.5 - 5e-7}});
}

TEST(Sampler, TopK) {
  SamplingParams params;
  params.top_k = 2;
  expect_distribution(make(params, 4), logs({0.1, 0.4, 0.2, 0.3}), {{1, 4 / 7.0}, {3, 3 / 7.0}});
  expect_distribution(make(params, 4), {1, 1, 1, 1}, {{0, 0.5}, {1, 0.5}});  // ties: the lowest ids
  params.top_k = std::numeric_limits<int32_t>::max();
  expect_distribution(make(params, 2), {0, 0}, {{0, 0.5}, {1, 0.5}});
}

TEST(Sampler, TopP) {
  SamplingParams params;
  const std::vector<float> row = logs({0.1, 0.4, 0.2, 0.3});
  params.top_p = 0.7f;  // reached exactly by two
  expect_distribution(make(params, 4), row, {{1, 4 / 7.0}, {3, 3 / 7.0}});
  params.top_p = 0.71f;
  expect_distribution(make(params, 4), row, {{1, 4 / 9.0}, {3, 3 / 9.0}, {2, 2 / 9.0}});
  params.top_p = 0.8f;
  expect_distribution(make(params, 3), logs({0.5, 0.3, 0.2}), {{0, 0.625}, {1, 0.375}});
  params.top_p = 0.5f;
  expect_distribution(make(params, 10), std::vector<float>(10, 3.0f), {{0, 0.2}, {1, 0.2}, {2, 0.2}, {3, 0.2}, {4, 0.2}});
  params.top_p = 0;
  expect_distribution(make(params, 4), row, {{1, 1}});
}

TEST(Sampler, MinP) {
  SamplingParams params;
  const std::vector<float> row = logs({0.1, 0.4, 0.2, 0.3});
  params.min_p = 0.5f;  // 0.2 is exactly half of 0.4
  expect_distribution(make(params, 4), row, {{1, 4 / 9.0}, {3, 3 / 9.0}, {2, 2 / 9.0}});
  params.min_p = 0.51f;
  expect_distribution(make(params, 4), row, {{1, 4 / 7.0}, {3, 3 / 7.0}});
  params.min_p = 1;
  expect_distribution(make(params, 3), {2, 5, 5}, {{1, 0.5}, {2, 0.5}});
}

TEST(Sampler, Typical) {
  SamplingParams params;
  params.typical_p = 0.5f;
  expect_distribution(make(params, 4), logs({0.4, 0.2, 0.2, 0.2}), {{1, 1 / 3.0}, {2, 1 / 3.0}, {3, 1 / 3.0}});
  expect_distribution(make(params, 4), logs({0.97, 0.01, 0.01, 0.01}), {{0, 1}});
  params.typical_p = 0;
  expect_distribution(make(params, 4), logs({0.4, 0.2, 0.2, 0.2}), {{1, 1}});
}

// top-k leaves {4/7, 3/7}; top-p 0.57 of that is reached by one, of the whole row it would need two.
TEST(Sampler, EachFilterSeesTheRenormalizedRest) {
  SamplingParams params;
  params.top_k = 2;
  params.top_p = 0.57f;
  expect_distribution(make(params, 4), logs({0.1, 0.4, 0.2, 0.3}), {{1, 1}});
  params.top_k = 0;
  params.typical_p = 0.5f;  // leaves the three of 0.2, of which top-p 0.57 keeps two
  expect_distribution(make(params, 4), logs({0.4, 0.2, 0.2, 0.2}), {{1, 0.5}, {2, 0.5}});
}

TEST(Sampler, LogitBiasComesBeforePenalties) {
  SamplingParams params;
  params.logit_bias = {{0, 3.0f}};
  params.repetition_penalty = 2;
  Sampler sampler = make(params, 2);
  sampler.observe_output(0);
  // -1 + 3 = 2 is positive and is divided: 1. Penalty first would give -2 + 3 = 1 too, so check a second row.
  expect_distribution(sampler, {-1, 1}, {{0, 0.5}, {1, 0.5}});
  const double odds = std::exp(2.0);  // (1 + 3) / 2 = 2 against 0; penalty first: 0.5 + 3
  expect_distribution(sampler, {1, 0}, {{0, odds / (1 + odds)}, {1, 1 / (1 + odds)}});
}

TEST(Sampler, RepetitionSeesPromptAndOutputOnce) {
  SamplingParams params;
  params.repetition_penalty = 2;
  Sampler sampler = make(params, 3);
  sampler.observe_prompt(std::vector<int32_t>{0, 0, 0});
  sampler.observe_output(0);
  sampler.observe_output(1);
  const double a = std::exp(1.0), b = std::exp(-2.0), sum = a + b + 1;
  expect_distribution(sampler, {2, -1, 0}, {{0, a / sum}, {2, 1 / sum}, {1, b / sum}});
}

TEST(Sampler, PresenceAndFrequencyCountTheOutput) {
  SamplingParams params;
  params.presence_penalty = 1;
  params.frequency_penalty = 0.5f;
  Sampler sampler = make(params, 3);
  sampler.observe_prompt(std::vector<int32_t>{2, 2, 2});
  for (const int32_t id : {0, 0, 1}) sampler.observe_output(id);
  const double a = std::exp(-2.0), b = std::exp(-1.5), sum = a + b + 1;
  expect_distribution(sampler, {0, 0, 0}, {{2, 1 / sum}, {1, b / sum}, {0, a / sum}});
  sampler.truncate(1);
  const double c = std::exp(-1.5);
  expect_distribution(sampler, {0, 0, 0}, {{1, 1 / (2 + c)}, {2, 1 / (2 + c)}, {0, c / (2 + c)}});
  sampler.reset_output();
  EXPECT_EQ(sampler.num_output(), 0u);
  expect_distribution(sampler, {0, 0, 0}, {{0, 1 / 3.0}, {1, 1 / 3.0}, {2, 1 / 3.0}});
}

TEST(Sampler, HistoryBeyondTheVocabularyHasNoEffect) {
  SamplingParams params;
  params.repetition_penalty = 2;
  Sampler sampler = make(params, 2);
  sampler.observe_prompt(std::vector<int32_t>{-1, 2, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()});
  sampler.observe_output(2);
  sampler.observe_output(-1);
  expect_distribution(sampler, {1, 1}, {{0, 0.5}, {1, 0.5}});
  sampler.truncate(0);
  EXPECT_EQ(sampler.num_output(), 0u);
}

TEST(Sampler, EndIdsAreMasked) {
  SamplingParams params;
  params.ignore_eos = true;
  expect_distribution(make(params, 3, {0}), {9, 1, 1}, {{1, 0.5}, {2, 0.5}});
  params = {};
  params.min_tokens = 2;
  params.stop_token_ids = {1};
  Sampler sampler = make(params, 3, {0});
  expect_distribution(sampler, {9, 9, 0}, {{2, 1}});
  sampler.observe_output(2);
  expect_distribution(sampler, {9, 9, 0}, {{2, 1}});
  sampler.observe_output(2);
  expect_distribution(sampler, {0, 0, 0}, {{0, 1 / 3.0}, {1, 1 / 3.0}, {2, 1 / 3.0}});
  sampler.truncate(1);
  expect_distribution(sampler, {9, 9, 0}, {{2, 1}});
  EXPECT_EQ(Sampler::create({}, 3, {3}).status().code(), Code::invalid);
  EXPECT_EQ(Sampler::create({}, 3, {-1}).status().code(), Code::invalid);
}

TEST(Sampler, AllowedMask) {
  std::vector<float> row(70, 0.0f);
  row[5] = 9;
  std::vector<uint32_t> allowed(3, 0);
  allowed[1] = 1u << 3;
  allowed[2] = 1u << 5;
  for (const float temperature : {0.0f, 1.0f}) {
    SamplingParams params;
    params.temperature = temperature;
    Sampler sampler = make(params, 70);
    for (uint64_t position = 0; position < 20; ++position) {
      const auto token = sampler.sample(row, position, allowed);
      ASSERT_TRUE(token.ok());
      EXPECT_TRUE(token->id == 35 || (token->id == 69 && temperature > 0)) << token->id;
    }
    EXPECT_EQ(sampler.sample(row, 0)->id, 5);
    const auto none = sampler.sample(row, 0, std::vector<uint32_t>(3, 0));
    EXPECT_EQ(none.status().code(), Code::invalid);
    EXPECT_THAT(none.status().message(), HasSubstr("no token can be drawn"));
    EXPECT_EQ(sampler.sample(row, 0, std::vector<uint32_t>(2, ~0u)).status().code(), Code::invalid);
    EXPECT_EQ(sampler.sample(std::vector<float>(69), 0).status().code(), Code::invalid);
    EXPECT_EQ(sampler.sample(row, 0, std::vector<uint32_t>(3, ~0u))->id, 5);  // bits beyond the vocabulary are harmless
  }
}

TEST(Sampler, BadLogitsAreErrorsAndTheNextRowWorks) {
  for (const float temperature : {0.0f, 1.0f}) {
    SamplingParams params;
    params.temperature = temperature;
    params.top_k = 2;
    Sampler sampler = make(params, 3);
    EXPECT_THAT(sampler.sample(std::vector<float>{0, std::nanf(""), 0}, 0).status().message(),
                HasSubstr("token id 1 is not a number"));
    EXPECT_THAT(sampler.sample(std::vector<float>{0, 0, kInfinity}, 0).status().message(),
                HasSubstr("token id 2 is +infinity"));
    EXPECT_FALSE(sampler.sample(std::vector<float>(3, -kInfinity), 0).ok());
    EXPECT_EQ(sampler.sample(std::vector<float>{-kInfinity, -kInfinity, -1e38f}, 0)->id, 2);
  }
}

TEST(Sampler, ExtremeLogitsAndBiasStayFinite) {
  const float largest = std::numeric_limits<float>::max();
  SamplingParams params;
  params.logit_bias = {{0, 1e6f}, {1, -1e6f}, {2, 1e6f}};
  params.repetition_penalty = 1e-3f;
  params.frequency_penalty = -100;
  params.presence_penalty = 100;
  for (const float temperature : {0.0f, std::numeric_limits<float>::denorm_min(), 1.0f, largest}) {
    params.temperature = temperature;
    Sampler sampler = make(params, 4);
    for (const int32_t id : {0, 1, 2, 3}) sampler.observe_output(id);
    const auto token = sampler.sample(std::vector<float>{largest, -largest, -kInfinity, largest}, 0);
    ASSERT_TRUE(token.ok()) << token.status().message();
    EXPECT_NE(token->id, 2);  // masked stays masked
  }
}

TEST(Sampler, Pb22TopP0AndTopK1AreGreedy) {
  std::mt19937 random(5);
  SamplingParams top_p, top_k, greedy;
  top_p.top_p = 0;
  top_k.top_k = 1;
  greedy.temperature = 0;
  std::vector<Sampler> samplers = {make(top_p, 500), make(top_k, 500), make(greedy, 500)};
  for (uint64_t position = 0; position < 200; ++position) {
    std::vector<float> row(500);
    for (float& x : row) x = static_cast<float>(random() % 60);  // many ties
    const int32_t best = static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
    for (Sampler& sampler : samplers) EXPECT_EQ(sampler.sample(row, position)->id, best);
  }
}

TEST(Sampler, Logprobs) {
  SamplingParams params;
  params.temperature = 0;
  params.logprobs = 2;
  params.logit_bias = {{0, 100.0f}};  // chosen, yet the log-probabilities are the model's
  const std::vector<float> row = logs({0.1, 0.4, 0.2, 0.3});
  auto token = make(params, 4).sample(row, 0);
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->id, 0);
  EXPECT_NEAR(token->logprob, std::log(0.1), 1e-6);
  ASSERT_EQ(token->top.size(), 2u);
  EXPECT_EQ(token->top[0].id, 1);
  EXPECT_NEAR(token->top[0].logprob, std::log(0.4), 1e-6);
  EXPECT_EQ(token->top[1].id, 3);
  params.logprobs = 0;
  EXPECT_TRUE(make(params, 4).sample(row, 0)->top.empty());
  EXPECT_NEAR(make(params, 4).sample(row, 0)->logprob, std::log(0.1), 1e-6);
  params.logprobs = 10;
  EXPECT_EQ(make(params, 4).sample(row, 0)->top.size(), 4u);
  EXPECT_EQ(make(params, 4).sample(std::vector<float>{0, 0, -kInfinity, 0}, 0)->top.size(), 3u);
  params.logprobs = -1;
  EXPECT_EQ(make(params, 4).sample(row, 0)->logprob, 0);
}

TEST(Sampler, LogprobsOfExtremeLogitsAreFinite) {
  const float largest = std::numeric_limits<float>::max();
  SamplingParams params;
  params.temperature = 0;
  params.logprobs = 3;
  for (const float best : {largest, 1e30f, -1e30f}) {
    const auto token = make(params, 3).sample(std::vector<float>{-largest, best, best}, 0);
    ASSERT_TRUE(token.ok());
    EXPECT_EQ(token->id, 1);
    EXPECT_FLOAT_EQ(token->logprob, -0.69314718f);
    for (const TokenLogprob& at : token->top) EXPECT_TRUE(std::isfinite(at.logprob)) << at.id;
  }
}

// Chi-square of 20,000 draws against the exact distribution, for rows drawn with and without filters. Seeds are fixed.
TEST(Sampler, DrawsFollowTheDistribution) {
  std::mt19937 random(6);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 8; ++round) {
    SamplingParams params;
    params.seed = static_cast<uint64_t>(round);
    if (round % 4 == 1) params.top_k = 7;
    if (round % 4 == 2) params.top_p = 0.9f;
    if (round % 4 == 3) params.typical_p = 0.8f;
    std::vector<float> row(20);
    for (float& x : row) x = normal(random);
    Sampler sampler = make(params, row.size());
    const auto expected = sampler.probabilities(row);
    ASSERT_TRUE(expected.ok());
    const int num_draws = 20000;
    std::vector<int> counts(row.size());
    for (int i = 0; i < num_draws; ++i) ++counts[static_cast<size_t>(sampler.sample(row, static_cast<uint64_t>(i))->id)];
    double chi_square = 0;
    int num_counted = 0;
    for (const auto& [id, p] : *expected) {
      const double difference = counts[static_cast<size_t>(id)] - p * num_draws;
      chi_square += difference * difference / (p * num_draws);
      num_counted += counts[static_cast<size_t>(id)];
    }
    const double freedom = static_cast<double>(expected->size() - 1);
    EXPECT_EQ(num_counted, num_draws);
    EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2 * freedom)) << round;
  }
}

// The same seed and position draw the same token, whatever the sampler did before; another seed or position does not.
TEST(Sampler, DrawsDependOnSeedAndPositionAlone) {
  const std::vector<float> row(1000, 0.0f);
  SamplingParams params;
  params.seed = 11;
  Sampler fresh = make(params, row.size()), used = make(params, row.size());
  int num_equal = 0;
  params.seed = 12;
  Sampler other = make(params, row.size());
  for (uint64_t position = 300; position-- > 0;) {
    const int32_t id = used.sample(row, position)->id;
    EXPECT_EQ(fresh.sample(row, position)->id, id);
    EXPECT_EQ(used.sample(row, position)->id, id);
    num_equal += other.sample(row, position)->id == id;
    num_equal += used.sample(row, position + 1)->id == id;
    used.observe_output(id);
  }
  EXPECT_LT(num_equal, 10);
}

SamplingParams random_params(std::mt19937& random, size_t vocab_size) {
  const auto unit = [&] { return static_cast<float>(random() % 1000) / 1000.0f; };
  const auto chance = [&](unsigned in) { return random() % in == 0; };
  const auto id = [&] { return static_cast<int32_t>(random() % vocab_size); };
  SamplingParams params;
  params.temperature = chance(10) ? 0 : 0.1f + 2 * unit();
  if (chance(3)) params.top_k = static_cast<int32_t>(random() % (vocab_size + 3));
  if (chance(3)) params.top_p = unit();
  if (chance(3)) params.min_p = unit() * unit() * unit();
  if (chance(3)) params.typical_p = unit();
  if (chance(3)) params.repetition_penalty = 0.5f + 2 * unit();
  if (chance(3)) params.presence_penalty = 4 * unit() - 2;
  if (chance(3)) params.frequency_penalty = 4 * unit() - 2;
  if (chance(3)) params.logit_bias = {{id(), 10 * unit() - 5}};
  if (chance(3)) params.stop_token_ids = {id()};
  if (chance(3)) params.min_tokens = static_cast<int32_t>(random() % 4);
  params.ignore_eos = chance(4);
  return params;
}

TEST(Sampler, AgreesWithTheNaiveReference) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  int num_empty = 0;
  for (int round = 0; round < 6000; ++round) {
    const size_t vocab_size = 1 + random() % (round % 10 == 0 ? 3000 : 60);
    const SamplingParams params = random_params(random, vocab_size);
    const auto id = [&] { return static_cast<int32_t>(random() % vocab_size); };
    ReferenceHistory history;
    history.end_ids = {id()};
    for (unsigned i = random() % 5; i > 0; --i) history.prompt.push_back(id());
    for (unsigned i = random() % 5; i > 0; --i) history.output.push_back(id());
    std::vector<float> row(vocab_size);
    const float spread = 0.1f + static_cast<float>(random() % 80) / 10;
    for (float& x : row) x = spread * normal(random);
    if (random() % 3 == 0) {
      for (float& x : row) x = std::round(x);  // ties
    }
    for (unsigned i = random() % 4; i > 0; --i) row[random() % vocab_size] = -kInfinity;
    std::vector<bool> allowed;
    std::vector<uint32_t> mask;
    if (random() % 3 == 0) {
      mask.resize((vocab_size + 31) / 32);
      for (size_t i = 0; i < vocab_size; ++i) {
        allowed.push_back(random() % 3 > 0);
        if (allowed[i]) mask[i / 32] |= 1u << (i % 32);
      }
    }
    Sampler sampler = make(params, vocab_size, history.end_ids);
    sampler.observe_prompt(history.prompt);
    for (const int32_t token : history.output) sampler.observe_output(token);
    sampler.observe_output(id());
    sampler.truncate(history.output.size());
    const Distribution expected = reference_probabilities(params, history, row, allowed);
    const auto actual = sampler.probabilities(row, mask);
    if (expected.empty()) {
      ++num_empty;
      EXPECT_FALSE(actual.ok());
      EXPECT_FALSE(sampler.sample(row, 0, mask).ok());
      continue;
    }
    ASSERT_TRUE(actual.ok()) << actual.status().message();
    ASSERT_EQ(actual->size(), expected.size()) << round;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ((*actual)[i].first, expected[i].first) << round << " " << i;
      ASSERT_NEAR((*actual)[i].second, expected[i].second, 1e-9) << round << " " << i;
    }
    const auto token = sampler.sample(row, static_cast<uint64_t>(round), mask);
    ASSERT_TRUE(token.ok());
    ASSERT_TRUE(std::any_of(expected.begin(), expected.end(), [&](const auto& at) { return at.first == token->id; })) << round;
  }
  EXPECT_LT(num_empty, 1000);
}

// Prints times; fails only where a draw over a large vocabulary is slower by an order of magnitude than it should be.
TEST(Sampler, LargeVocabulariesAreQuick) {
  std::mt19937 random(8);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> row(151936);
  for (float& x : row) x = normal(random);
  SamplingParams greedy, top_k, top_p, min_p, typical, none;
  greedy.temperature = 0;
  top_k.top_k = 40;
  top_p.top_p = 0.95f;
  min_p.min_p = 0.05f;
  typical.typical_p = 0.95f;
  const std::pair<const char*, SamplingParams> cases[] = {{"greedy", greedy}, {"top_k", top_k},     {"top_p", top_p},
                                                          {"min_p", min_p},   {"typical", typical}, {"none", none}};
  for (const auto& [name, params] : cases) {
    Sampler sampler = make(params, row.size());
    SampledToken token;
    double best_ms = 1e9;
    for (uint64_t position = 0; position < 5; ++position) {
      const auto start = std::chrono::steady_clock::now();
      ASSERT_TRUE(sampler.sample_into(row, position, {}, token).ok());
      best_ms = std::min(best_ms, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf("%-8s %.3f ms\n", name, best_ms);
    EXPECT_LT(best_ms, 400) << name;
  }
}

}  // namespace
}  // namespace gainz
