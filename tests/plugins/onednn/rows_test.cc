// Row kernels of every instruction set against libm in double; a tail has the bits of a whole vector.
#include <gtest/gtest.h>

#include "kernel_tables.h"
#include "reference/half.h"

namespace gainz::onednn::test {
namespace {

std::vector<float> ramp() {
  std::vector<float> x;
  for (float v = -100; v <= 100; v += 0.037f) x.push_back(v);
  for (float v = 1e-6f; v < 1; v *= 1.7f) x.insert(x.end(), {v, -v});
  return x;
}

TEST(Rows, ActivationsFollowTheirFormulas) {
  const std::vector<float> x = ramp();
  for (const Kernels* kernels : tables()) {
    std::vector<float> silu(x.size()), gelu(x.size()), relu2(x.size()), cap(x.size());
    kernels->activation(GAINZ_ACTIVATION_SILU, x.data(), x.size(), silu.data());
    kernels->activation(GAINZ_ACTIVATION_GELU_TANH, x.data(), x.size(), gelu.data());
    kernels->activation(GAINZ_ACTIVATION_RELU2, x.data(), x.size(), relu2.data());
    kernels->softcap(x.data(), 30.0f, x.size(), cap.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = x[i], inner = 0.7978845608028654 * (v + 0.044715 * v * v * v);
      EXPECT_NEAR(silu[i], v / (1 + std::exp(-v)), 4e-7 * std::fabs(v) + 1e-36) << kernels->isa << v;
      EXPECT_NEAR(gelu[i], 0.5 * v * (1 + std::tanh(inner)), 2e-7 * std::fabs(v)) << kernels->isa << v;
      EXPECT_EQ(relu2[i], v < 0 ? 0.0f : x[i] * x[i]);
      EXPECT_NEAR(cap[i], 30 * std::tanh(v / 30), 4e-7 * std::fabs(v)) << kernels->isa << v;
    }
  }
}

TEST(Rows, ExtremesAreWhatTheyShouldBe) {
  for (const Kernels* kernels : tables()) {
    const float x[4] = {NAN, INFINITY, -1e30f, 1e30f};
    float y[4];
    kernels->activation(GAINZ_ACTIVATION_SILU, x, 4, y);
    EXPECT_TRUE(std::isnan(y[0])) << kernels->isa;
    EXPECT_EQ(y[1], INFINITY);
    EXPECT_EQ(y[2], 0.0f);
    EXPECT_EQ(y[3], 1e30f);
    const float scores[5] = {-INFINITY, 1000.0f, 1000.0f, -1000.0f, 999.0f};
    float p[5];
    kernels->softmax(scores, 5, p);
    EXPECT_EQ(p[0], 0.0f);
    EXPECT_EQ(p[3], 0.0f);
    EXPECT_NEAR(p[1], 1 / (2 + std::exp(-1.0)), 1e-6);
    EXPECT_EQ(p[1], p[2]);
  }
}

TEST(Rows, ATailHasTheBitsOfAWholeVector) {
  const std::vector<float> x = random_floats(64, 1, 3.0f);
  for (const Kernels* kernels : tables()) {
    for (const uint32_t kind : {GAINZ_ACTIVATION_SILU, GAINZ_ACTIVATION_GELU_TANH}) {
      std::vector<float> whole(64), part(64);
      kernels->activation(kind, x.data(), 64, whole.data());
      for (uint64_t n = 1; n < 40; ++n) {
        kernels->activation(kind, x.data() + 64 - n, n, part.data());
        EXPECT_EQ(std::vector<float>(part.begin(), part.begin() + static_cast<ptrdiff_t>(n)),
                  std::vector<float>(whole.end() - static_cast<ptrdiff_t>(n), whole.end()))
            << kernels->isa << n;
      }
    }
  }
}

TEST(Rows, NormsOfOddWidths) {
  for (const Kernels* kernels : tables()) {
    for (const uint64_t n : {1u, 7u, 16u, 37u, 576u}) {
      const std::vector<float> x = random_floats(n, 2, 5.0f), w = random_floats(n, 3), b = random_floats(n, 4);
      std::vector<float> rms(n), layer(n);
      kernels->rmsnorm(x.data(), w.data(), n, 1e-5f, rms.data());
      kernels->layernorm(x.data(), w.data(), b.data(), n, 1e-5f, layer.data());
      double squares = 0, mean = 0, variance = 0;
      for (const float v : x) squares += static_cast<double>(v) * v, mean += v / static_cast<double>(n);
      for (const float v : x) variance += (v - mean) * (v - mean) / static_cast<double>(n);
      for (size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(rms[i], x[i] / std::sqrt(squares / static_cast<double>(n) + 1e-5) * w[i], 2e-6) << kernels->isa << n;
        EXPECT_NEAR(layer[i], (x[i] - mean) / std::sqrt(variance + 1e-5) * w[i] + b[i], n == 1 ? 2e-4 : 4e-6)
            << kernels->isa << n;
      }
    }
  }
}

TEST(Rows, RopeTurnsPairs) {
  for (const Kernels* kernels : tables()) {
    for (const uint32_t half : {1u, 5u, 16u, 20u, 32u}) {
      const std::vector<float> x = random_floats(2 * half, 1), c = random_floats(half, 2), s = random_floats(half, 3);
      std::vector<float> halves(2 * half), pairs = x;
      kernels->rope_halves(x.data(), c.data(), s.data(), half, halves.data());
      kernels->rope_pairs(pairs.data(), c.data(), s.data(), half, pairs.data());
      for (uint32_t i = 0; i < half; ++i) {
        EXPECT_NEAR(halves[i], x[i] * c[i] - x[i + half] * s[i], 1e-6) << kernels->isa;
        EXPECT_NEAR(halves[i + half], x[i + half] * c[i] + x[i] * s[i], 1e-6);
        EXPECT_NEAR(pairs[2 * i], x[2 * i] * c[i] - x[2 * i + 1] * s[i], 1e-6) << kernels->isa << half;
        EXPECT_NEAR(pairs[2 * i + 1], x[2 * i + 1] * c[i] + x[2 * i] * s[i], 1e-6);
      }
    }
  }
}

TEST(Rows, HalvesRoundToNearestEven) {
  std::vector<float> x = random_floats(1000, 5, 100.0f);
  for (uint32_t h = 0; h < 31 * 1024; h += 37) {  // halfway between neighbours
    const float a = reference::f16_to_f32(static_cast<uint16_t>(h)), b = reference::f16_to_f32(static_cast<uint16_t>(h + 1));
    x.insert(x.end(), {a, -a, (a + b) / 2});
  }
  x.insert(x.end(), {65519.0f, 65520.0f, 1e-8f, 3e-8f, INFINITY});
  for (const Kernels* kernels : tables()) {
    std::vector<uint16_t> y(x.size());
    kernels->to_f16(x.data(), x.size(), y.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], reference::f32_to_f16(x[i])) << kernels->isa << " " << x[i];
  }
}

}  // namespace
}  // namespace gainz::onednn::test
