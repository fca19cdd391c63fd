#include "sampler/sampling_params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "sampler/limits.h"

namespace gainz {
namespace {

using testing::HasSubstr;
constexpr int32_t kVocab = 100;

void expect_invalid(const SamplingParams& params, const std::string& field) {
  const Status status = params.validate(kVocab);
  EXPECT_FALSE(status.ok()) << field;
  EXPECT_THAT(status.message(), HasSubstr(field));
}

TEST(SamplingParams, DefaultsAreValid) { EXPECT_TRUE(SamplingParams{}.validate(kVocab).ok()); }

// pb22: one bad value must give an error that names its field.
TEST(SamplingParams, Pb22FloatFields) {
  struct Field {
    const char* name;
    float SamplingParams::*member;
    float lowest, highest;  // legal
  };
  const float largest = std::numeric_limits<float>::max(), infinity = std::numeric_limits<float>::infinity();
  const Field fields[] = {
      {"temperature", &SamplingParams::temperature, 0, largest},
      {"top_p", &SamplingParams::top_p, 0, 1},
      {"min_p", &SamplingParams::min_p, 0, 1},
      {"typical_p", &SamplingParams::typical_p, 0, 1},
      {"repetition_penalty", &SamplingParams::repetition_penalty, 1 / kMaxRepetitionPenalty, kMaxRepetitionPenalty},
      {"presence_penalty", &SamplingParams::presence_penalty, -kMaxPenalty, kMaxPenalty},
      {"frequency_penalty", &SamplingParams::frequency_penalty, -kMaxPenalty, kMaxPenalty}};
  for (const Field& field : fields) {
    SamplingParams params;
    for (const float value : {field.lowest, field.highest}) {
      params.*field.member = value;
      EXPECT_TRUE(params.validate(kVocab).ok()) << field.name << " " << value;
    }
    for (const float value : {std::nextafter(field.lowest, -infinity), std::nextafter(field.highest, infinity), infinity,
                              -infinity, std::nanf(""), -1e30f}) {
      params.*field.member = value;
      expect_invalid(params, field.name);
    }
  }
  SamplingParams params;
  params.repetition_penalty = 0;
  expect_invalid(params, "repetition_penalty is 0,");
  params.repetition_penalty = -0.0f;
  expect_invalid(params, "repetition_penalty is -0,");
  params = {};
  params.temperature = -0.0f;  // is zero: greedy
  EXPECT_TRUE(params.validate(kVocab).ok());
}

TEST(SamplingParams, Pb22IntegerFields) {
  SamplingParams params;
  params.top_k = -1;
  expect_invalid(params, "top_k is -1");
  params.top_k = std::numeric_limits<int32_t>::max();  // keeps all there are
  EXPECT_TRUE(params.validate(kVocab).ok());
  params = {};
  params.min_tokens = -1;
  expect_invalid(params, "min_tokens is -1");
  params = {};
  params.logprobs = -2;
  expect_invalid(params, "logprobs is -2");
  params.logprobs = kMaxNumLogprobs;
  EXPECT_TRUE(params.validate(kVocab).ok());
  params.logprobs = kMaxNumLogprobs + 1;
  expect_invalid(params, "logprobs");
}

TEST(SamplingParams, Pb22Ids) {
  for (const int32_t id : {-1, kVocab, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    SamplingParams params;
    params.logit_bias = {{id, 1.0f}};
    expect_invalid(params, "logit_bias names token id " + std::to_string(id));
    params = {};
    params.stop_token_ids = {0, id};
    expect_invalid(params, "stop_token_ids names token id " + std::to_string(id));
  }
}

TEST(SamplingParams, LogitBias) {
  SamplingParams params;
  params.logit_bias = {{0, kMaxLogitBias}, {kVocab - 1, -kMaxLogitBias}};
  EXPECT_TRUE(params.validate(kVocab).ok());
  for (const float bias : {std::nextafter(kMaxLogitBias, 2e6f), -2 * kMaxLogitBias, std::nanf(""), INFINITY}) {
    params.logit_bias = {{3, bias}};
    expect_invalid(params, "logit_bias of token id 3");
  }
  params.logit_bias = {{3, 1}, {4, 1}, {3, 2}};
  expect_invalid(params, "logit_bias names token id 3 twice");
  params.logit_bias.assign(kVocab + 1, {3, 1});
  EXPECT_EQ(params.validate(kVocab).code(), Code::limit_exceeded);
}

TEST(SamplingParams, StopTokenIdsAndVocabularyHaveLimits) {
  SamplingParams params;
  params.stop_token_ids.assign(kMaxNumStopTokenIds, 1);
  EXPECT_TRUE(params.validate(kVocab).ok());
  params.stop_token_ids.push_back(1);
  EXPECT_EQ(params.validate(kVocab).code(), Code::limit_exceeded);
  EXPECT_EQ(SamplingParams{}.validate(0).code(), Code::limit_exceeded);
  EXPECT_EQ(SamplingParams{}.validate(kMaxVocabTokens + 1).code(), Code::limit_exceeded);
  EXPECT_TRUE(SamplingParams{}.validate(kMaxVocabTokens).ok());
}

TEST(SamplerLimits, AreListedOnce) {
  std::set<std::string_view> names;
  for (const auto& [name, value] : sampler_limits()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_GT(value, 0);
  }
  EXPECT_EQ(names.size(), 8u);
}

}  // namespace
}  // namespace gainz
