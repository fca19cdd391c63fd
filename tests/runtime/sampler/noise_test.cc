#include "sampler/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace gainz {
namespace {

TEST(PortableMath, AgreesWithLibm) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const double u = (static_cast<double>(random() >> 12) + 0.5) * 0x1p-52;
    const double wide = std::exp(1400 * (u - 0.5));
    EXPECT_NEAR(portable_log(wide), std::log(wide), 4e-16 * std::max(1.0, std::abs(std::log(wide))));
    const double tiny = std::exp(-36 * u);
    EXPECT_NEAR(portable_minus_log1m(tiny) / -std::log1p(-tiny), 1, 1e-15) << tiny;
    const double x = -700 * u * u * u;
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-15) << x;
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-709), 0);
  EXPECT_EQ(portable_exp(-INFINITY), 0);
  EXPECT_EQ(portable_log(1), 0);
}

// The same bits on every machine: these values must never change, or every seeded answer changes with them.
TEST(Noise, KeepsItsBits) {
  EXPECT_EQ(GumbelRow(0, 0).word(0), 0x568a9b0b1a2c05ecu);
  EXPECT_EQ(GumbelRow(42, 7).word(1234), 0x9faff74fbccac8a5u);
  EXPECT_EQ(GumbelRow(42, 7).noise_of(1234), 0x1.738b3e2fe7ea7p-6);
  EXPECT_EQ(GumbelRow(~uint64_t{0}, ~uint64_t{0}).noise_of(49151), -0x1.ca9ce9ad1f439p-3);
}

TEST(Noise, EndsAreFiniteAndBounded) {
  for (const uint64_t word : {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 12, uint64_t{4095}}) {
    EXPECT_TRUE(std::isfinite(GumbelRow::noise(word)));
    EXPECT_LE(GumbelRow::noise(word), GumbelRow::noise_bound(word));
    EXPECT_LE(GumbelRow::noise_bound(word), GumbelRow::kMaxNoise + 1e-8);
  }
  for (int32_t id = 0; id < 200000; ++id) {
    const uint64_t word = GumbelRow(3, 5).word(id);
    ASSERT_LE(GumbelRow::noise(word), GumbelRow::noise_bound(word));
  }
}

// Mean and variance of Gumbel(0, 1), over ids, positions and seeds alike, and no repeated words.
TEST(Noise, IsGumbelAlongEveryKey) {
  for (int key = 0; key < 3; ++key) {
    const int num_draws = 200000;
    double sum = 0, squares = 0;
    std::set<uint64_t> words;
    for (int i = 0; i < num_draws; ++i) {
      const uint64_t at = static_cast<uint64_t>(i);
      const GumbelRow row(key == 0 ? at : 9, key == 1 ? at : 9);
      const int32_t id = key == 2 ? i : 9;
      words.insert(row.word(id));
      sum += row.noise_of(id);
      squares += row.noise_of(id) * row.noise_of(id);
    }
    const double mean = sum / num_draws;
    EXPECT_NEAR(mean, 0.5772156649, 0.01);
    EXPECT_NEAR(squares / num_draws - mean * mean, 1.6449340668, 0.03);
    EXPECT_EQ(words.size(), static_cast<size_t>(num_draws));
  }
}

}  // namespace
}  // namespace gainz
