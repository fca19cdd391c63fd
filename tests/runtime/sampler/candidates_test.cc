#include "sampler/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace gainz {
namespace {

TEST(CollectBest, AgreesWithSortingAndNeverGrows) {
  std::mt19937 random(2);
  for (const size_t size : {1, 5, 64, 65, 200, 3000}) {
    for (const size_t k : {1, 2, 40, 64, 67, 500, 2999, 3000, 100000}) {
      for (const unsigned range : {2u, 50u, 1u << 20}) {
        std::vector<float> row(size);
        for (float& x : row) x = static_cast<float>(random() % range);
        if (size > 60) std::fill(row.begin() + 7, row.begin() + 30, -INFINITY);
        if (range == 50u) std::sort(row.begin(), row.end());  // ascending: the worst order, most shrinks
        std::vector<Candidate> found;
        found.reserve(best_capacity(k, size));
        const Candidate* storage = found.data();
        collect_best(row, k, found);
        EXPECT_EQ(found.data(), storage);
        std::sort(found.begin(), found.end(), better);
        std::vector<int32_t> ids(size);
        std::iota(ids.begin(), ids.end(), 0);
        std::erase_if(ids, [&](int32_t id) { return row[static_cast<size_t>(id)] == -INFINITY; });
        std::stable_sort(ids.begin(), ids.end(),
                         [&](int32_t a, int32_t b) { return row[static_cast<size_t>(a)] > row[static_cast<size_t>(b)]; });
        ids.resize(std::min(k, ids.size()));
        ASSERT_EQ(found.size(), ids.size());
        for (size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(found[i].id, ids[i]) << size << " " << k << " " << range << " " << i;
      }
    }
  }
}

// The shortcuts of the pick (bounds instead of logarithms) must not change the winner.
TEST(Pick, AgreesWithEveryScoreComputed) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (uint64_t position = 0; position < 300; ++position) {
    std::vector<float> row(1 + random() % 2000);
    const float spread = std::vector<float>{0, 0.1f, 1, 5, 30}[position % 5];
    for (float& x : row) x = spread * normal(random);
    if (row.size() > 3) row[1] = -INFINITY;
    const float temperature = std::vector<float>{0.3f, 1, 2.5f, 1e30f}[position % 4];
    const RowBest best = *scan_row(row);
    const GumbelRow noise(77, position);
    std::vector<Candidate> all;
    int32_t expected = -1;
    double expected_score = -INFINITY;
    for (size_t i = 0; i < row.size(); ++i) {
      const int32_t id = static_cast<int32_t>(i);
      if (row[i] == -INFINITY) continue;
      all.push_back({row[i], id, 0});
      const double x = (static_cast<double>(row[i]) - static_cast<double>(best.logit)) / static_cast<double>(temperature);
      if (x + noise.noise_of(id) > expected_score) {
        expected_score = x + noise.noise_of(id);
        expected = id;
      }
    }
    EXPECT_EQ(pick_of_row(row, best, temperature, noise), expected);
    std::shuffle(all.begin(), all.end(), random);
    EXPECT_EQ(pick_of_candidates(all, best, temperature, noise), expected);
  }
}

}  // namespace
}  // namespace gainz
