// One chunk of attention on every instruction set: against double, and a row's bits alone or among eight.
#include <gtest/gtest.h>

#include "kernel_tables.h"

namespace gainz::onednn::test {
namespace {

// One head of F32 pages with random keys and values; pages lie backwards.
struct Head {
  uint32_t dk, dv, num_pages;
  std::vector<float> k, v;
  std::vector<uint32_t> table;

  Head(uint32_t key_columns, uint32_t value_columns, uint32_t pages) : dk(key_columns), dv(value_columns), num_pages(pages) {
    k = random_floats(size_t{num_pages} * 16 * dk, 1);
    v = random_floats(size_t{num_pages} * 16 * dv, 2);
    for (uint32_t p = 0; p < num_pages; ++p) table.push_back(num_pages - 1 - p);
  }
  float key(uint32_t p, uint32_t d) const { return k[(size_t{table[p / 16]} * dk + d) * 16 + p % 16]; }
  float value(uint32_t p, uint32_t d) const { return v[(size_t{table[p / 16]} * 16 + p % 16) * dv + d]; }

  AttentionArgs args(uint32_t end, uint32_t num_rows, const std::vector<float>& q, std::vector<float>* o) const {
    AttentionArgs a{};
    a.k = reinterpret_cast<const uint8_t*>(k.data());
    a.v = reinterpret_cast<const uint8_t*>(v.data());
    a.k_page_bytes = 64ull * dk;
    a.v_page_bytes = 64ull * dv;
    a.page_table = table.data();
    a.k_type = a.v_type = kKvF32;
    a.dk = dk;
    a.dv = dv;
    a.scale = 0.3f;
    a.end = end;
    a.num_rows = num_rows;
    o->resize(size_t{num_rows} * dv);
    for (uint32_t r = 0; r < num_rows; ++r) {
      a.q[r] = q.data() + size_t{r} * dk;
      a.o[r] = o->data() + size_t{r} * dv;
      a.first[r] = r % 3 == 2 ? r : 0;
      a.last[r] = end - std::min(end - 1, r);
    }
    return a;
  }
};

TEST(Attention, OneChunkIsASoftmaxOfItsScores) {
  for (const Kernels* kernels : tables()) {
    for (const auto& [dk, dv] : std::vector<std::pair<uint32_t, uint32_t>>{{64, 64}, {40, 24}, {8, 100}}) {
      const Head head(dk, dv, 8);
      for (const uint32_t end : {1u, 15u, 33u, 128u}) {
        for (uint32_t rows = 1; rows <= kAttentionRows; ++rows) {
          const std::vector<float> q = random_floats(size_t{rows} * dk, 3);
          std::vector<float> o;
          AttentionArgs a = head.args(end, rows, q, &o);
          a.softcap = rows % 2 ? 0.0f : 5.0f;
          kernels->attend(&a);
          for (uint32_t r = 0; r < rows; ++r) {
            std::vector<double> sums(dv);
            double total = 0;
            for (uint32_t p = a.first[r]; p < a.last[r]; ++p) {
              double score = 0;
              for (uint32_t d = 0; d < dk; ++d) score += static_cast<double>(q[r * dk + d]) * head.key(p, d);
              score *= 0.3f;
              if (a.softcap != 0) score = 5 * std::tanh(score / 5);
              const double weight = std::exp(score - a.m[r]);
              total += weight;
              for (uint32_t d = 0; d < dv; ++d) sums[d] += weight * head.value(p, d);
            }
            if (a.first[r] >= a.last[r]) {
              EXPECT_EQ(a.l[r], 0.0f);
              continue;
            }
            EXPECT_NEAR(a.l[r], total, 1e-5 * total) << kernels->isa << " " << end << " " << r;
            for (uint32_t d = 0; d < dv; ++d)
              ASSERT_NEAR(a.o[r][d], sums[d], 2e-5 * total) << kernels->isa << " " << end << " " << r;
          }
        }
      }
    }
  }
}

TEST(Attention, ARowsBitsDoNotDependOnItsNeighbours) {
  for (const Kernels* kernels : tables()) {
    const Head head(64, 48, 16);
    const std::vector<float> q = random_floats(size_t{kAttentionRows} * 64, 4);
    std::vector<float> all, one;
    AttentionArgs together = head.args(250, kAttentionRows, q, &all);
    kernels->attend(&together);
    for (uint32_t r = 0; r < kAttentionRows; ++r) {
      AttentionArgs alone = head.args(250, 1, q, &one);
      alone.q[0] = together.q[r];
      alone.first[0] = together.first[r];
      alone.last[0] = together.last[r];
      alone.end = alone.last[0];
      kernels->attend(&alone);
      EXPECT_EQ(alone.l[0], together.l[r]) << kernels->isa << r;
      EXPECT_EQ(alone.m[0], together.m[r]);
      EXPECT_EQ(one, std::vector<float>(together.o[r], together.o[r] + 48)) << kernels->isa << r;
    }
  }
}

}  // namespace
}  // namespace gainz::onednn::test
