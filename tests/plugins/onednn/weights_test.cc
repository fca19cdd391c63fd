// Packing loses nothing: every type's rows come back as the SDK's own dequantisation has them, bit for bit.
#include "weights.h"

#include <gtest/gtest.h>

#include "kernel_tables.h"

namespace gainz::onednn::test {
namespace {

const TestHost kHost(1);

void expect_rows(const TestWeight& w, const char* what) {
  std::vector<float> row(w.packed.num_columns);
  for (uint32_t r = 0; r < w.packed.num_rows; ++r) {
    w.packed.row_to_float(r, row.data());
    for (uint32_t k = 0; k < row.size(); ++k) {
      const float want = w.values[static_cast<size_t>(r) * row.size() + k];
      if (std::isnan(want) && std::isnan(row[k])) continue;
      ASSERT_EQ(row[k], want) << what << " type " << w.packed.info->type << " row " << r << " column " << k;
    }
  }
}

TEST(Weights, RowsOfEveryTypeComeBackBitForBit) {
  for (const uint32_t type : kQuantTypes)
    for (const uint32_t rows : {1u, 16u, 37u}) expect_rows(TestWeight(kHost, type, 512, rows), "random");
  for (const uint32_t type : {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_BF16})
    expect_rows(TestWeight(kHost, type, 37, 19), "dense");
}

// Random bytes, all ones and zeros; where scales are not finite, nothing is asked of the values.
TEST(Weights, AnyBytesAreTakenApartAsTheReferenceDoes) {
  std::mt19937 random(5);
  for (const uint32_t type : kQuantTypes) {
    for (const int fill : {0, 0xff, -1, -1, -1, -1}) {
      std::vector<uint8_t> bytes(reference::row_bytes(type, 256) * 16);
      for (uint8_t& b : bytes) b = fill < 0 ? static_cast<uint8_t>(random()) : static_cast<uint8_t>(fill);
      TestWeight w(kHost, type, 256, 16, 1, bytes);
      std::vector<float> row(256);
      for (uint32_t i = 0; i < w.values.size(); ++i) {
        if (i % 256 == 0) w.packed.row_to_float(i / 256, row.data());
        if (!std::isfinite(w.values[i])) continue;
        ASSERT_EQ(row[i % 256], w.values[i]) << type << " " << i;
      }
    }
  }
}

TEST(Weights, PiecesAndMatricesPackTheSame) {
  const TestWeight whole(kHost, GAINZ_TYPE_Q5_0, 64, 21, 3);
  TestWeight pieces(kHost, GAINZ_TYPE_Q5_0, 64, 21, 3, whole.bytes);
  std::memset(pieces.packed.memory.data(), 0xee, pieces.packed.memory.size());
  for (uint64_t p = 0; p < 6; ++p) pieces.packed.pack(pieces.bytes.data(), p, p + 1);
  EXPECT_EQ(std::memcmp(pieces.packed.memory.data(), whole.packed.memory.data(), whole.packed.size_bytes()), 0);
}

TEST(Weights, UnknownTypesAreNone) {
  EXPECT_EQ(find_type(GAINZ_TYPE_I32), nullptr);
  EXPECT_EQ(find_type(99), nullptr);
}

}  // namespace
}  // namespace gainz::onednn::test
