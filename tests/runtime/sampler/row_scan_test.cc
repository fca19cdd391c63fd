#include "sampler/row_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace gainz {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(RowScan, FindsTheLowestIdOfTheBestAtEverySize) {
  std::mt19937 random(1);
  for (size_t size = 1; size < 3000; size += 1 + size / 9) {
    for (int range : {1, 3, 1000000}) {
      std::vector<float> row(size);
      for (float& x : row) x = static_cast<float>(static_cast<int>(random() % static_cast<unsigned>(2 * range + 1)) - range);
      const auto best = scan_row(row);
      ASSERT_TRUE(best.ok());
      const auto expected = std::max_element(row.begin(), row.end());
      EXPECT_EQ(best->id, expected - row.begin());
      EXPECT_EQ(best->logit, *expected);
    }
  }
}

TEST(RowScan, ZerosOfEitherSignAreEqual) {
  std::vector<float> row(5000, -1.0f);
  row[10] = -0.0f;
  row[11] = 0.0f;
  row[4000] = 0.0f;
  EXPECT_EQ(scan_row(row)->id, 10);
}

TEST(RowScan, MinusInfinityIsLegal) {
  const std::vector<float> row(100, -kInfinity);
  EXPECT_EQ(scan_row(row)->logit, -kInfinity);
  EXPECT_EQ(scan_row(row)->id, 0);
}

TEST(RowScan, NamesTheFirstBadId) {
  for (const float bad : {std::nanf(""), -std::nanf(""), kInfinity}) {
    for (const size_t id : {size_t{0}, size_t{15}, size_t{1023}, size_t{1024}, size_t{4996}, size_t{4999}}) {
      std::vector<float> row(5000, 1.0f);
      row[id] = bad;
      row.back() = bad;
      const auto result = scan_row(row);
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(result.status().code(), Code::invalid);
      EXPECT_NE(result.status().message().find("token id " + std::to_string(id) + " is"), std::string::npos)
          << result.status().message();
    }
  }
}

}  // namespace
}  // namespace gainz
