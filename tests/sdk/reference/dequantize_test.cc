#include "reference/dequantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "gainz/sdk/types.h"

namespace gainz::reference {
namespace {

std::vector<char> read(const std::string& name) {
  std::ifstream file(std::string(GAINZ_TEST_DATA "/quants/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Dequantize : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Dequantize, EveryBitIsThatOfTheFormatsAuthors) {
  const TypeTraits traits = type_traits(GetParam());
  std::vector<char> raw = read(std::string(traits.name) + ".raw.bin");
  const std::vector<char> want = read(std::string(traits.name) + ".f32.bin");
  const uint64_t n = want.size() / sizeof(float);
  ASSERT_GE(n, 1024u);
  ASSERT_EQ(raw.size(), row_bytes(GetParam(), n));
  raw.insert(raw.begin(), 'x');  // blocks may stand at any address
  std::vector<float> got(n);
  ASSERT_TRUE(dequantize_row(GetParam(), raw.data() + 1, got.data(), n));
  for (uint64_t i = 0; i < n; ++i) {
    float value = 0;
    std::memcpy(&value, want.data() + i * sizeof value, sizeof value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
    } else {
      ASSERT_EQ(std::memcmp(&got[i], &value, sizeof value), 0)
          << traits.name << " value " << i << ": " << got[i] << ", not " << value;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Dequantize,
                         ::testing::Values(GAINZ_TYPE_F16, GAINZ_TYPE_BF16, GAINZ_TYPE_Q4_0, GAINZ_TYPE_Q4_1, GAINZ_TYPE_Q5_0,
                                           GAINZ_TYPE_Q5_1, GAINZ_TYPE_Q8_0, GAINZ_TYPE_Q2_K, GAINZ_TYPE_Q3_K, GAINZ_TYPE_Q4_K,
                                           GAINZ_TYPE_Q5_K, GAINZ_TYPE_Q6_K, GAINZ_TYPE_IQ4_NL, GAINZ_TYPE_IQ4_XS,
                                           GAINZ_TYPE_MXFP4),
                         [](const auto& type) { return std::string(type_traits(type.param).name); });

TEST(DequantizeRow, RefusesWhatHasNoMeaning) {
  float out[32] = {7};
  const char bytes[64] = {};
  EXPECT_FALSE(dequantize_row(GAINZ_TYPE_Q4_0, bytes, out, 31));
  EXPECT_FALSE(dequantize_row(GAINZ_TYPE_I32, bytes, out, 4));
  EXPECT_FALSE(dequantize_row(4, bytes, out, 32));
  EXPECT_EQ(out[0], 7);
  EXPECT_EQ(row_bytes(GAINZ_TYPE_Q6_K, 128), 0u);
  EXPECT_EQ(row_bytes(999, 256), 0u);
  EXPECT_EQ(type_traits(31).name, nullptr);
  const float values[2] = {1.5f, -2};
  EXPECT_TRUE(dequantize_row(GAINZ_TYPE_F32, values, out, 2));
  EXPECT_EQ(out[1], -2);
}

}  // namespace
}  // namespace gainz::reference
