#include "reference/half.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gainz::reference {
namespace {

// The value of a finite f16 by its definition.
double value_of(uint32_t h) {
  const double mantissa = h & 0x3FF;
  const int exponent = static_cast<int>(h >> 10 & 31);
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return h & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, EveryFiniteValueGoesOutAndBack) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    if ((h >> 10 & 31) == 31) continue;
    const float f = f16_to_f32(static_cast<uint16_t>(h));
    ASSERT_EQ(static_cast<double>(f), value_of(h)) << h;
    ASSERT_EQ(std::signbit(f), (h & 0x8000) != 0) << h;
    ASSERT_EQ(f32_to_f16(f), h);
  }
}

TEST(Half, BetweenNeighboursTheNearestWinsAndTiesGoToEven) {
  for (uint32_t h = 0; h < 0x7BFF; ++h) {
    const auto middle = static_cast<float>((value_of(h) + value_of(h + 1)) / 2);  // 12 bits: exact in f32
    const uint32_t even = h & 1 ? h + 1 : h;
    ASSERT_EQ(f32_to_f16(middle), even) << h;
    ASSERT_EQ(f32_to_f16(-middle), even | 0x8000) << h;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, 0.0f)), h);
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, 1e9f)), h + 1);
  }
}

TEST(Half, TheEndsOfTheRange) {
  EXPECT_EQ(f32_to_f16(65504.0f), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7C00);
  EXPECT_EQ(f32_to_f16(-1e30f), 0xFC00);
  EXPECT_EQ(f32_to_f16(INFINITY), 0x7C00);
  EXPECT_EQ(f32_to_f16(1e-30f), 0);
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(NAN))));
  EXPECT_TRUE(std::isnan(f16_to_f32(0x7C01)));
  EXPECT_EQ(f16_to_f32(0xFC00), -INFINITY);
}

TEST(Half, Bf16) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = bf16_to_f32(static_cast<uint16_t>(h));
    if (std::isnan(f)) {
      ASSERT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(f))));
    } else {
      ASSERT_EQ(f32_to_bf16(f), h);
    }
  }
  EXPECT_EQ(f32_to_bf16(0x1.01p0f), 0x3F80);        // a tie, to even
  EXPECT_EQ(f32_to_bf16(0x1.03p0f), 0x3F82);        // a tie, to even
  EXPECT_EQ(f32_to_bf16(0x1.010002p0f), 0x3F81);    // just above
  EXPECT_EQ(f32_to_bf16(0x1.FFFFFEp127f), 0x7F80);  // rounds to infinity
}

}  // namespace
}  // namespace gainz::reference
