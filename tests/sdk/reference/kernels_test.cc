// The small kernels against closed forms in double and against the order of sums that they promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gainz/sdk/ops.h"
#include "gainz/sdk/types.h"
#include "reference/activation.h"
#include "reference/dot.h"
#include "reference/elementwise.h"
#include "reference/linear.h"
#include "reference/moe.h"
#include "reference/norm.h"
#include "reference/select.h"

namespace gainz::reference {
namespace {

std::vector<float> random_floats(size_t n, uint32_t seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> x(n);
  for (float& value : x) value = normal(random);
  return x;
}

// The normative order, written once more and slowly.
float ordered_dot(const float* a, const float* b, size_t n) {
  float lane[16] = {};
  for (size_t k = 0; k < n; ++k) {
    volatile float product = a[k] * b[k];
    lane[k % 16] = lane[k % 16] + product;
  }
  for (size_t width : {8, 4, 2, 1}) {
    for (size_t j = 0; j < width; ++j) lane[j] = lane[j] + lane[j + width];
  }
  return lane[0];
}

TEST(Dot, KeepsItsOrderForEveryLength) {
  const std::vector<float> a = random_floats(700, 1);
  const std::vector<float> b = random_floats(700, 2);
  for (size_t n = 0; n < 690; ++n) {
    ASSERT_EQ(dot(a.data() + n % 5, b.data() + n % 3, n), ordered_dot(a.data() + n % 5, b.data() + n % 3, n)) << n;
  }
}

TEST(Dot, RowsHaveTheSameBitsAsOne) {
  const std::vector<float> w = random_floats(93, 3);
  const std::vector<float> x = random_floats(93 * 7, 4);
  float out[14] = {};
  dot_rows(w.data(), x.data(), 93, 7, 93, out, 2);
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(out[2 * i], ordered_dot(w.data(), x.data() + 93 * i, 93));
}

TEST(Norm, RmsOfGroups) {
  const uint64_t dim = 37;
  const std::vector<float> x = random_floats(2 * 3 * dim, 5, 3);
  const std::vector<float> w = random_floats(dim, 6);
  std::vector<float> out(x.size());
  rmsnorm(x.data(), w.data(), out.data(), 2, 3, dim, 1e-2f);
  for (size_t run = 0; run < 6; ++run) {
    double squares = 0;
    for (size_t k = 0; k < dim; ++k) squares += double{x[run * dim + k]} * double{x[run * dim + k]};
    for (size_t k = 0; k < dim; ++k) {
      const double want = double{x[run * dim + k]} / std::sqrt(squares / dim + 1e-2) * double{w[k]};
      ASSERT_NEAR(out[run * dim + k], want, 1e-6 * (1 + std::fabs(want)));
    }
  }
}

TEST(Norm, Layer) {
  const uint64_t dim = 50;
  std::vector<float> x = random_floats(2 * dim, 7);
  for (float& value : x) value += 4;
  const std::vector<float> w = random_floats(dim, 8);
  const std::vector<float> b = random_floats(dim, 9);
  std::vector<float> out(x.size());
  layernorm(x.data(), w.data(), b.data(), out.data(), 2, dim, 1e-5f);
  for (size_t row = 0; row < 2; ++row) {
    double mean = 0, variance = 0;
    for (size_t k = 0; k < dim; ++k) mean += double{x[row * dim + k]} / dim;
    for (size_t k = 0; k < dim; ++k) variance += std::pow(double{x[row * dim + k]} - mean, 2) / dim;
    for (size_t k = 0; k < dim; ++k) {
      const double want = (double{x[row * dim + k]} - mean) / std::sqrt(variance + 1e-5) * double{w[k]} + double{b[k]};
      ASSERT_NEAR(out[row * dim + k], want, 5e-6);
    }
  }
}

TEST(Linear, IsTheProductWhateverPartOfItIsAsked) {
  const uint64_t k = 40, n = 9, rows = 3;
  const std::vector<float> x = random_floats(rows * k, 10);
  const std::vector<float> w = random_floats(n * k, 11);
  const std::vector<float> bias = random_floats(n, 12);
  std::vector<float> out(rows * n, -7), room(k);
  linear(x.data(), GAINZ_TYPE_F32, w.data(), bias.data(), out.data(), rows, k, 2, 5, n, room.data());
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < n; ++c) {
      const float want = c < 2 || c >= 5 ? -7.0f : ordered_dot(&x[r * k], &w[c * k], k) + bias[c];
      EXPECT_EQ(out[r * n + c], want);
    }
  }
}

TEST(Linear, EmbedTakesRows) {
  const std::vector<float> w = random_floats(4 * 8, 13);
  const int32_t tokens[] = {3, 0, 3};
  float out[24];
  embed(tokens, GAINZ_TYPE_F32, w.data(), out, 3, 8);
  EXPECT_EQ(out[0], w[24]);
  EXPECT_EQ(out[8 + 7], w[7]);
  EXPECT_EQ(out[23], w[31]);
}

TEST(Activation, KnownValues) {
  // Python's math module, in double.
  EXPECT_FLOAT_EQ(activation_value(GAINZ_ACTIVATION_SILU, 1.5f), 1.2263617f);
  EXPECT_FLOAT_EQ(activation_value(GAINZ_ACTIVATION_SILU, -4.0f), -0.07194484f);
  EXPECT_FLOAT_EQ(activation_value(GAINZ_ACTIVATION_GELU_TANH, 1.0f), 0.84119199f);
  EXPECT_FLOAT_EQ(activation_value(GAINZ_ACTIVATION_GELU_ERF, 1.0f), 0.84134475f);
  EXPECT_FLOAT_EQ(activation_value(GAINZ_ACTIVATION_GELU_ERF, -2.0f), -0.04550026f);
  EXPECT_EQ(activation_value(GAINZ_ACTIVATION_RELU, -3.0f), 0.0f);
  EXPECT_EQ(activation_value(GAINZ_ACTIVATION_RELU2, 3.0f), 9.0f);
  EXPECT_EQ(activation_value(GAINZ_ACTIVATION_SILU, -1000.0f), 0.0f);
  EXPECT_EQ(activation_value(GAINZ_ACTIVATION_GELU_TANH, 100.0f), 100.0f);
  for (uint32_t kind = 1; kind <= 5; ++kind) EXPECT_TRUE(std::isnan(activation_value(kind, NAN))) << kind;
  const float gate[] = {1.5f, 0}, up[] = {-2, 5};
  float out[2];
  gated_activation(GAINZ_ACTIVATION_SILU, gate, up, out, 2);
  EXPECT_FLOAT_EQ(out[0], -2.4527235f);
  EXPECT_EQ(out[1], 0);
}

TEST(Elementwise, All) {
  const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40}, row[] = {2, -1};
  float out[4];
  add(a, b, out, 4);
  EXPECT_EQ(out[3], 44);
  mul(a, b, out, 4);
  EXPECT_EQ(out[2], 90);
  mul_row(a, row, out, 2, 2);
  EXPECT_EQ(out[2], 6);
  EXPECT_EQ(out[3], -4);
  scale(a, 0.5f, out, 4);
  EXPECT_EQ(out[0], 0.5f);
  softcap(b, 30.0f, out, 4);
  EXPECT_FLOAT_EQ(out[3], static_cast<float>(30 * std::tanh(40.0 / 30)));
}

TEST(Select, TopKIsASortForEverySize) {
  std::vector<float> x = random_floats(60, 14);
  for (size_t i = 0; i < x.size(); i += 4) x[i] = 1.25f;  // ties
  x[7] = NAN;
  x[8] = NAN;
  x[9] = -INFINITY;
  std::vector<int32_t> order(x.size());
  for (size_t i = 0; i < x.size(); ++i) order[i] = static_cast<int32_t>(i);
  auto key = [&](int32_t i) {
    return std::isnan(x[static_cast<size_t>(i)]) ? -1e30 : std::max(-1e29, double{x[static_cast<size_t>(i)]});
  };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key(a) > key(b); });
  for (size_t k = 1; k <= x.size(); ++k) {
    std::vector<float> values(k);
    std::vector<int32_t> ids(k);
    top_k(x.data(), x.size(), k, values.data(), ids.data());
    ASSERT_EQ(ids, std::vector<int32_t>(order.begin(), order.begin() + static_cast<long>(k)));
    for (size_t i = 0; i < k && !std::isnan(values[i]); ++i) ASSERT_EQ(values[i], x[static_cast<size_t>(ids[i])]);
  }
}

TEST(Select, MaskAndGather) {
  std::vector<float> x(40, 1.0f), out(40);
  const uint32_t mask[] = {0x80000001u, 0x00000080u};
  logit_mask(x.data(), mask, out.data(), 40);
  for (size_t c = 0; c < 40; ++c) EXPECT_EQ(out[c], c == 0 || c == 31 || c == 39 ? 1.0f : -INFINITY) << c;
  const float rows[] = {0, 1, 2, 3, 4, 5};
  const uint32_t which[] = {0, 2};
  gather_rows(rows, which, out.data(), 2, 2);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[3], 5);
}

TEST(Moe, RouteIsASoftmaxCutAndScaled) {
  const float x[] = {0.5f, 2.0f, -1.0f, 2.0f, 1.0f};
  double total = 0;
  for (float value : x) total += std::exp(double{value});
  int32_t ids[3];
  float weights[3], room[5];
  moe_route(x, 5, {sizeof(gainz_moe_route_attr), 3, 0, 2.5f}, ids, weights, room);
  EXPECT_EQ(ids[0], 1);
  EXPECT_EQ(ids[1], 3);
  EXPECT_EQ(ids[2], 4);
  EXPECT_NEAR(weights[0], 2.5 * std::exp(2.0) / total, 1e-6);
  EXPECT_NEAR(weights[2], 2.5 * std::exp(1.0) / total, 1e-6);
  moe_route(x, 5, {sizeof(gainz_moe_route_attr), 3, 1, 1.0f}, ids, weights, room);
  EXPECT_NEAR(weights[0] + weights[1] + weights[2], 1, 1e-6);
  EXPECT_NEAR(weights[2] / weights[0], std::exp(-1.0), 1e-6);
}

TEST(Moe, LinearOfChosenExperts) {
  const uint64_t k = 20, n = 6, experts = 4, chosen = 2, tokens = 5;
  const std::vector<float> w = random_floats(experts * n * k, 15);
  const std::vector<float> x = random_floats(tokens * chosen * k, 16);
  const std::vector<float> weights = random_floats(tokens * chosen, 17);
  const std::vector<int32_t> ids = {0, 3, 3, 1, 2, 0, 1, 2, 3, 2};
  std::vector<float> room(moe_linear_room(tokens, chosen, k));
  for (const bool apart : {false, true}) {
    for (const bool weighted : {false, true}) {
      std::vector<float> out(tokens * n * (weighted ? 1 : chosen), 99);
      const MoeLinear m{x.data(),
                        ids.data(),
                        weighted ? weights.data() : nullptr,
                        GAINZ_TYPE_F32,
                        w.data(),
                        out.data(),
                        tokens,
                        chosen,
                        experts,
                        k,
                        n,
                        apart};
      moe_linear(m, 0, 4, room.data());
      moe_linear(m, 4, n, room.data());
      for (size_t t = 0; t < tokens; ++t) {
        for (size_t c = 0; c < n; ++c) {
          float sum = 0;
          for (size_t j = 0; j < chosen; ++j) {
            const float* row = &x[(apart ? t * chosen + j : t) * k];
            const float product = ordered_dot(&w[(static_cast<size_t>(ids[t * chosen + j]) * n + c) * k], row, k);
            if (!weighted) {
              ASSERT_EQ(out[(t * chosen + j) * n + c], product);
            }
            sum += weights[t * chosen + j] * product;
          }
          if (weighted) {
            ASSERT_EQ(out[t * n + c], sum);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace gainz::reference
