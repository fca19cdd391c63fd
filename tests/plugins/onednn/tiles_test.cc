// The tiles for prompt tokens: products and attention against double, and a row's bits alone and in company.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_tables.h"

namespace gainz::onednn::test {
namespace {

const TestHost kHost(1);

// bf16 keeps 8 bits: a product of two rounded factors is off by at most 2^-8 and a little.
constexpr double kBf16 = 0.0041;

class Tiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!supports(Isa::kAmx))
      GTEST_SKIP() << "this machine has no AMX" << (amx_state().reason.empty() ? "" : ": " + amx_state().reason);
    tiles_ = amx_kernels()->tiles;
    tiles_->begin();
  }
  void TearDown() override {
    if (tiles_ != nullptr) tiles_->end();
  }

  struct Aligned {
    explicit Aligned(size_t bytes) { EXPECT_TRUE(memory.allocate(*kHost.get(), bytes, "a test").ok()); }
    uint8_t* data() const { return memory.data(); }
    HostMemory memory;
  };

  // Rows [tokens][32 outputs] of the first two panels.
  std::vector<float> product(const PackedWeight& w, const std::vector<std::vector<float>>& xs) const {
    const uint64_t tile_bytes = uint64_t{w.num_blocks()} * kTileBytes;
    const size_t num_tiles = (xs.size() + kTileRows - 1) / kTileRows;
    const Aligned x(num_tiles * tile_bytes), scratch(kTileScratchBytes), sums(round_up(num_tiles, 2) * kTileRows * 32 * 4);
    std::fill_n(x.data(), num_tiles * tile_bytes, uint8_t{0xff});  // rows that are not there: NaN
    for (size_t t = 0; t < xs.size(); ++t)
      tiles_->row(xs[t].data(), xs[t].size(), t % kTileRows, x.data() + t / kTileRows * tile_bytes);
    TileLinearArgs args{};
    args.panels[0] = w.panel(0, 0);
    args.panels[1] = w.panel(0, w.num_panels > 1 ? 1 : 0);
    args.num_blocks = w.num_blocks();
    args.num_tiles = static_cast<uint32_t>(num_tiles);
    args.x = x.data();
    args.x_tile_bytes = tile_bytes;
    args.scratch = scratch.data();
    args.sums = reinterpret_cast<float*>(sums.data());
    args.sum_stride = 32 * sizeof(float);
    tiles_->linear[w.info->format](&args);
    return {args.sums, args.sums + xs.size() * 32};
  }

  const TileKernels* tiles_ = nullptr;
};

TEST_F(Tiles, EveryTypeAgainstExactSums) {
  for (const uint32_t type : kQuantTypes) {
    for (const uint32_t columns : {256u, 1024u}) {  // the latter in two parts
      const TestWeight w(kHost, type, columns, 32);
      const std::vector<float> x = random_floats(columns, 3);
      const std::vector<float> y = product(w.packed, {x});
      for (uint32_t n = 0; n < 32; ++n) {
        double want = 0, magnitude = 0;
        for (uint32_t k = 0; k < columns; ++k) {
          const double term = static_cast<double>(w.values[size_t{n} * columns + k]) * x[k];
          want += term;
          magnitude += std::fabs(term);
        }
        ASSERT_NEAR(y[n], want, kBf16 * magnitude + 1e-37) << "type " << type << " row " << n;
      }
    }
  }
}

TEST_F(Tiles, ARowsBitsDoNotDependOnItsCompany) {
  const TestWeight w(kHost, GAINZ_TYPE_Q4_1, 1024, 32);
  std::vector<std::vector<float>> xs;
  for (uint32_t t = 0; t < 70; ++t) xs.push_back(random_floats(1024, t, t % 3 == 0 ? 1e6f : 1.0f));
  const std::vector<float> all = product(w.packed, xs);
  for (const size_t count : {size_t{1}, size_t{2}, size_t{15}, size_t{16}, size_t{17}, size_t{33}, size_t{64}}) {
    for (const size_t first : {size_t{0}, size_t{5}}) {
      const std::vector<float> part =
          product(w.packed, {xs.begin() + static_cast<ptrdiff_t>(first), xs.begin() + static_cast<ptrdiff_t>(first + count)});
      EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<ptrdiff_t>(first * 32)))
          << count << " from " << first;
    }
  }
}

TEST_F(Tiles, WhatIsNotFiniteStaysInItsRow) {
  const TestWeight w(kHost, GAINZ_TYPE_Q8_0, 64, 16);
  std::vector<std::vector<float>> xs(3, random_floats(64, 1));
  xs[1][7] = std::nanf("");
  const std::vector<float> y = product(w.packed, xs);
  EXPECT_TRUE(std::isfinite(y[0]));
  EXPECT_TRUE(std::isnan(y[32]));
  EXPECT_EQ(y[64], y[0]);
  const std::vector<float> huge =
      product(w.packed, {std::vector<float>(64, 3e38f), std::vector<float>(64, 1e-30f), std::vector<float>(64, 0)});
  EXPECT_FALSE(std::isfinite(huge[0] - huge[0]) && huge[0] == 0);
  EXPECT_EQ(huge[64], 0);
}

// One head of F32 pages; rows see [first, last).
struct Head {
  uint32_t dk, dv;
  std::vector<float> k, v;
  std::vector<uint32_t> table;
  Head(uint32_t key_columns, uint32_t value_columns, uint32_t num_pages) : dk(key_columns), dv(value_columns) {
    k = random_floats(size_t{num_pages} * 16 * dk, 1);
    v = random_floats(size_t{num_pages} * 16 * dv, 2);
    for (uint32_t p = 0; p < num_pages; ++p) table.push_back(num_pages - 1 - p);
  }
  float key(uint32_t p, uint32_t d) const { return k[(size_t{table[p / 16]} * dk + d) * 16 + p % 16]; }
  float value(uint32_t p, uint32_t d) const { return v[(size_t{table[p / 16]} * 16 + p % 16) * dv + d]; }
};

class TileAttention : public Tiles {
 protected:
  struct Rows {
    std::vector<uint32_t> first, last;
    std::vector<float> q;
  };
  static Rows rows_of(const Head& head, uint32_t count, uint32_t begin, uint32_t window) {
    Rows rows;
    for (uint32_t r = 0; r < count; ++r) {
      const uint32_t position = begin + r / 2;  // two heads a query
      rows.first.push_back(window == 0 || position + 1 <= window ? 0 : position + 1 - window);
      rows.last.push_back(position + 1);
      const std::vector<float> q = random_floats(head.dk, 100 + begin * 2 + r);
      rows.q.insert(rows.q.end(), q.begin(), q.end());
    }
    return rows;
  }
  std::vector<float> attend(const Head& head, const Rows& rows, float softcap) const {
    const size_t count = rows.first.size();
    std::vector<float> out(count * head.dv);
    std::vector<const float*> q;
    std::vector<float*> targets;
    for (size_t r = 0; r < count; ++r) {
      q.push_back(rows.q.data() + r * head.dk);
      targets.push_back(out.data() + r * head.dv);
    }
    const Aligned scratch(tile_attention_bytes(head.dk, head.dv));
    TileAttentionArgs a{};
    a.pages.k = reinterpret_cast<const uint8_t*>(head.k.data());
    a.pages.v = reinterpret_cast<const uint8_t*>(head.v.data());
    a.pages.k_page_bytes = 64ull * head.dk;
    a.pages.v_page_bytes = 64ull * head.dv;
    a.pages.page_table = head.table.data();
    a.pages.k_type = a.pages.v_type = kKvF32;
    a.pages.dk = head.dk;
    a.pages.dv = head.dv;
    a.pages.scale = 0.2f;
    a.pages.softcap = softcap;
    a.num_rows = static_cast<uint32_t>(count);
    a.q = q.data();
    a.first = rows.first.data();
    a.last = rows.last.data();
    a.out = targets.data();
    a.scratch = scratch.data();
    tiles_->attend(&a);
    return out;
  }
};

TEST_F(TileAttention, IsASoftmaxOfItsScores) {
  for (const auto& [dk, dv] : std::vector<std::pair<uint32_t, uint32_t>>{{64, 64}, {32, 16}, {128, 80}}) {
    const Head head(dk, dv, 36);
    for (const auto& [count, begin, window] : std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>{
             {1, 0, 0}, {2, 15, 0}, {35, 0, 0}, {256, 100, 0}, {40, 250, 0}, {64, 500, 0}, {50, 400, 40}, {64, 300, 290}}) {
      const Rows rows = rows_of(head, count, begin, window);
      for (const float softcap : {0.0f, 5.0f}) {
        const std::vector<float> out = attend(head, rows, softcap);
        for (uint32_t r = 0; r < count; r += 7) {
          std::vector<double> sums(dv), magnitudes(dv);
          double total = 0;
          for (uint32_t p = rows.first[r]; p < rows.last[r]; ++p) {
            double s = 0;
            for (uint32_t d = 0; d < dk; ++d) s += static_cast<double>(rows.q[size_t{r} * dk + d]) * head.key(p, d);
            s *= 0.2;
            if (softcap != 0) s = softcap * std::tanh(s / softcap);
            const double e = std::exp(s);
            total += e;
            for (uint32_t d = 0; d < dv; ++d) sums[d] += e * head.value(p, d), magnitudes[d] += e * std::fabs(head.value(p, d));
          }
          // Scores are off by up to kBf16 of their terms, which the exponential passes on.
          for (uint32_t d = 0; d < dv; ++d)
            ASSERT_NEAR(out[size_t{r} * dv + d], sums[d] / total, 0.06 * magnitudes[d] / total + 1e-6)
                << dk << " row " << r << " of " << count << " from " << begin;
        }
      }
    }
  }
}

TEST_F(TileAttention, ARowsBitsDoNotDependOnItsCompany) {
  const Head head(64, 64, 40);
  for (const uint32_t window : {0u, 70u}) {
    const Rows rows = rows_of(head, 200, 490, window);
    const std::vector<float> all = attend(head, rows, 0);
    for (const uint32_t r : {0u, 1u, 31u, 77u, 199u}) {
      Rows one;
      one.first = {rows.first[r]};
      one.last = {rows.last[r]};
      one.q.assign(rows.q.begin() + r * 64, rows.q.begin() + (r + 1) * 64);
      const std::vector<float> alone = attend(head, one, 0);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + r * 64)) << r << " window " << window;
    }
  }
}

// Slots behind the last position hold anything, also NaN.
TEST_F(TileAttention, WhatNobodySeesDoesNotCount) {
  Head head(64, 64, 2);
  const Rows rows = rows_of(head, 6, 10, 0);
  const std::vector<float> want = attend(head, rows, 0);
  for (uint32_t p = 13; p < 32; ++p) {
    for (uint32_t d = 0; d < 64; ++d) {
      head.k[(size_t{head.table[p / 16]} * 64 + d) * 16 + p % 16] = std::nanf("");
      head.v[(size_t{head.table[p / 16]} * 16 + p % 16) * 64 + d] = std::nanf("");
    }
  }
  EXPECT_EQ(attend(head, rows, 0), want);
}

TEST(Amx, SaysWhyNot) {
  const AmxState& state = amx_state();
  EXPECT_EQ(supports(Isa::kAmx), state.is_usable);
  if (state.is_usable) {
    EXPECT_EQ(state.reason, "");
    EXPECT_GT(state.block_ns, 0);
  }
  std::printf("AMX: %s %s, %.0f ns for a product of 32 outputs by 32 tokens by 32 columns\n",
              state.is_usable ? "used" : "not used", state.reason.c_str(), state.block_ns);
}

}  // namespace
}  // namespace gainz::onednn::test
