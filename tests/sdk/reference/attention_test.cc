// ROPE, KV rows and ATTENTION.
#include "reference/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gainz/sdk/types.h"
#include "reference/half.h"
#include "reference/kv.h"
#include "reference/rope.h"

namespace gainz::reference {
namespace {

gainz_rope_attr plain_rope(uint32_t dim) {
  gainz_rope_attr attr{};
  attr.struct_size = sizeof attr;
  attr.mode = GAINZ_ROPE_HALVES;
  attr.num_heads = 1;
  attr.head_dim = attr.rotary_dim = dim;
  attr.base = 10000;
  attr.freq_scale = attr.magnitude = 1;
  return attr;
}

TEST(Rope, CosinesAreThoseOfFloat32Training) {
  // NumPy: inverse = 1 / 10000 ** (arange(0, 64, 2) / 64) and 1399 * inverse in float32, then the cosine.
  const gainz_rope_attr attr = plain_rope(64);
  float inverse[32], turns[64], x[64], out[64];
  for (int i = 0; i < 64; ++i) x[i] = i < 32 ? 1.0f : 0.0f;
  rope_frequencies(attr, nullptr, inverse);
  const int32_t position = 1399;
  rope(x, &position, attr, inverse, out, 1, turns);
  const std::pair<int, double> want[] = {
      {0, -0.547628403}, {1, 0.982000887}, {5, 0.311901331}, {20, -0.284382254}, {31, 0.982648134}};
  for (const auto& [i, cosine] : want) EXPECT_NEAR(out[i], cosine, 2e-4) << i;  // an ulp of the angle is 6e-5
  EXPECT_NEAR(out[0] * out[0] + out[32] * out[32], 1, 1e-6);
}

TEST(Rope, BothModesTurnTheSamePairs) {
  gainz_rope_attr attr = plain_rope(8);
  attr.rotary_dim = 6;
  attr.num_heads = 2;
  const float x[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  float inverse[3], turns[6], halves[16], interleaved[16];
  rope_frequencies(attr, nullptr, inverse);
  const int32_t position = 5;
  rope(x, &position, attr, inverse, halves, 1, turns);
  attr.mode = GAINZ_ROPE_INTERLEAVED;
  rope(x, &position, attr, inverse, interleaved, 1, turns);
  for (int h = 0; h < 2; ++h) {
    for (int i = 0; i < 3; ++i) {
      const double angle = 5 * std::pow(10000.0, -2.0 * i / 6);
      const float* row = x + 8 * h;
      EXPECT_NEAR(halves[8 * h + i], row[i] * std::cos(angle) - row[i + 3] * std::sin(angle), 1e-5);
      EXPECT_NEAR(halves[8 * h + i + 3], row[i + 3] * std::cos(angle) + row[i] * std::sin(angle), 1e-5);
      EXPECT_NEAR(interleaved[8 * h + 2 * i], row[2 * i] * std::cos(angle) - row[2 * i + 1] * std::sin(angle), 1e-5);
      EXPECT_NEAR(interleaved[8 * h + 2 * i + 1], row[2 * i + 1] * std::cos(angle) + row[2 * i] * std::sin(angle), 1e-5);
    }
    EXPECT_EQ(halves[8 * h + 6], x[8 * h + 6]);
    EXPECT_EQ(interleaved[8 * h + 7], x[8 * h + 7]);
  }
}

TEST(Rope, FactorsAndLinearScaleDivide) {
  gainz_rope_attr attr = plain_rope(4);
  const float factors[2] = {1, 8};
  float inverse[2];
  attr.freq_scale = 0.25f;
  rope_frequencies(attr, factors, inverse);
  EXPECT_FLOAT_EQ(inverse[0], 0.25f);
  EXPECT_FLOAT_EQ(inverse[1], 0.25f * 0.01f / 8);
}

TEST(Rope, YarnBlendsByItsRamp) {
  // NumPy, from the paper's formulas: factor 4 of 4,096 tokens, beta 32 and 1; the ramp goes from pair 10 to pair 23.
  gainz_rope_attr attr = plain_rope(64);
  attr.freq_scale = 0.25f;
  attr.yarn_mix = 1;
  attr.yarn_beta_fast = 32;
  attr.yarn_beta_slow = 1;
  attr.original_context = 4096;
  float inverse[32];
  rope_frequencies(attr, nullptr, inverse);
  const std::pair<int, double> want[] = {
      {0, 1}, {5, 0.237137371}, {13, 0.0196094364}, {20, 0.0013378867}, {25, 0.000187473552}, {31, 3.33380358e-05}};
  for (const auto& [i, value] : want) EXPECT_NEAR(inverse[i] / value, 1, 1e-6) << i;
}

TEST(Kv, Q8Rows) {
  float x[32];
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i - 10) * 0.37f;
  uint8_t bytes[34];
  kv_encode(GAINZ_TYPE_Q8_0, x, bytes, 32);
  const float d = f16_to_f32(f32_to_f16(21 * 0.37f / 127));
  float back[32];
  kv_decode(GAINZ_TYPE_Q8_0, bytes, back, 32);
  EXPECT_EQ(static_cast<int8_t>(bytes[2 + 31]), 127);
  for (int i = 0; i < 32; ++i) {
    EXPECT_NEAR(back[i], x[i], 0.6 * d);
    EXPECT_EQ(back[i], d * static_cast<float>(static_cast<int8_t>(bytes[2 + i])));
  }
  const float zeros[32] = {};
  kv_encode(GAINZ_TYPE_Q8_0, zeros, bytes, 32);
  kv_decode(GAINZ_TYPE_Q8_0, bytes, back, 32);
  EXPECT_EQ(back[5], 0);
  x[3] = NAN;
  x[4] = INFINITY;
  kv_encode(GAINZ_TYPE_Q8_0, x, bytes, 32);  // must be defined behaviour; the block is lost, which shows as NaN
  kv_decode(GAINZ_TYPE_Q8_0, bytes, back, 32);
  EXPECT_TRUE(std::isnan(back[0]));
}

struct Case {
  uint32_t window;
  float softcap;
  uint32_t type;
  double limit;
};

class Attention : public ::testing::TestWithParam<Case> {};

TEST_P(Attention, IsTheFormulaOverScatteredPages) {
  const uint32_t heads = 6, kv_heads = 2, dk = 32, dv = 64, length = 45;
  gainz_page_group group{sizeof group, 3, kv_heads, dk, dv, 0};
  std::vector<uint8_t> pages(gainz_page_bytes(&group, GetParam().type, GetParam().type) * 9, 0xFF);  // unused places hold NaN
  const KvLayer layer = kv_layer(pages.data(), group, GetParam().type, GetParam().type, 1);
  const uint32_t table[] = {7, 2, 5};
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> k(length * kv_heads * dk), v(length * kv_heads * dv), q(heads * dk);
  for (auto* array : {&k, &v, &q}) {
    for (float& value : *array) value = normal(random);
  }
  std::vector<uint32_t> slots(length);
  for (uint32_t t = 0; t < length; ++t) slots[t] = table[t / 16] * 16 + t % 16;
  kv_write(k.data(), v.data(), slots.data(), length, layer);

  gainz_attention_attr attr{sizeof attr, 0, 1, heads, kv_heads, dk, dv, GetParam().window, 0.3f, GetParam().softcap};
  std::vector<float> room(attention_room(attr, length)), out(dv);
  for (uint32_t head = 0; head < heads; ++head) {
    attention_head(q.data() + head * dk, head, length - 1, table, layer, attr, out.data(), room.data());
    std::vector<double> want(dv, 0);
    double total = 0;
    for (uint32_t p = attr.window == 0 ? 0 : length - attr.window; p < length; ++p) {
      double score = 0;
      for (uint32_t c = 0; c < dk; ++c) score += double{q[head * dk + c]} * double{k[(p * kv_heads + head / 3) * dk + c]};
      score *= 0.3f;
      if (attr.softcap != 0) score = attr.softcap * std::tanh(score / attr.softcap);
      total += std::exp(score);
      for (uint32_t c = 0; c < dv; ++c) want[c] += std::exp(score) * double{v[(p * kv_heads + head / 3) * dv + c]};
    }
    for (uint32_t c = 0; c < dv; ++c) ASSERT_NEAR(out[c], want[c] / total, GetParam().limit) << "head " << head;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Attention,
                         ::testing::Values(Case{0, 0, GAINZ_TYPE_F32, 1e-6}, Case{17, 0, GAINZ_TYPE_F32, 1e-6},
                                           Case{0, 2.0f, GAINZ_TYPE_F32, 1e-6}, Case{1, 0, GAINZ_TYPE_F32, 1e-6},
                                           Case{0, 0, GAINZ_TYPE_F16, 3e-3}, Case{20, 3, GAINZ_TYPE_BF16, 3e-2},
                                           Case{0, 0, GAINZ_TYPE_Q8_0, 4e-2}));

TEST(AttentionHead, EarlyPositionsSeeNothingAfterThem) {
  gainz_page_group group{sizeof group, 1, 1, 4, 4, 0};
  std::vector<uint8_t> pages(gainz_page_bytes(&group, GAINZ_TYPE_F32, GAINZ_TYPE_F32), 0xFF);
  const KvLayer layer = kv_layer(pages.data(), group, GAINZ_TYPE_F32, GAINZ_TYPE_F32, 0);
  const float k[4] = {1, 0, 0, 0}, v[4] = {1, 2, 3, 4};
  const uint32_t slot = 0, table = 0;
  kv_write(k, v, &slot, 1, layer);
  gainz_attention_attr attr{sizeof attr, 0, 0, 1, 1, 4, 4, 0, 1, 0};
  float out[4], room[8];
  attention_head(k, 0, 0, &table, layer, attr, out, room);
  EXPECT_EQ(out[2], 3);
}

}  // namespace
}  // namespace gainz::reference
