// The products of every instruction set against exact ones in double, and a row's bits against its company in the tile.
#include <gtest/gtest.h>

#include "kernel_tables.h"

namespace gainz::onednn::test {
namespace {

const TestHost kHost(1);

std::vector<ActBlock> quantize(const Kernels& kernels, const std::vector<float>& x) {
  std::vector<ActBlock> out(x.size() / kBlock);
  kernels.quantize(x.data(), x.size(), out.data());
  return out;
}

// Rows [0, 16 num_panels) for one row of activations, in tiles of one.
std::vector<float> product(const Kernels& kernels, const PackedWeight& w, const std::vector<ActBlock>& x,
                           const float* bias = nullptr) {
  std::vector<float> y(w.num_panels * kPanelRows);
  const ActBlock* source = x.data();
  for (uint32_t p = 0; p < w.num_panels; ++p) {
    float* target = y.data() + p * kPanelRows;
    kernels.linear[w.info->format][0](w.panel(0, p), w.num_blocks(), &source, bias == nullptr ? nullptr : bias + p * kPanelRows,
                                      &target);
  }
  y.resize(w.num_rows);
  return y;
}

// sum_k w[k] * d * q[k] in double, and the sum of the magnitudes, which bounds what f32 may lose.
void expect_product(const TestWeight& w, const std::vector<ActBlock>& x, const std::vector<float>& y, const char* isa) {
  for (uint32_t n = 0; n < w.packed.num_rows; ++n) {
    double want = 0, magnitude = 0;
    for (uint32_t k = 0; k < w.packed.num_columns; ++k) {
      const ActBlock& a = x[k / kBlock];
      const double term =
          static_cast<double>(w.values[static_cast<size_t>(n) * w.packed.num_columns + k]) * a.d * a.q[k % kBlock];
      want += term;
      magnitude += std::fabs(term);
    }
    // Types with a min sum two parts of the size of |min| sum |x| that cancel.
    ASSERT_NEAR(y[n], want, 3e-6 * magnitude + 1e-37) << isa << " type " << w.packed.info->type << " row " << n;
  }
}

TEST(Linear, EveryTypeOnEveryInstructionSetAgainstExactSums) {
  for (const Kernels* kernels : tables())
    for (const uint32_t type : kQuantTypes)
      for (const uint32_t columns : {256u, 768u}) {
        const TestWeight w(kHost, type, columns, 35);
        const std::vector<ActBlock> x = quantize(*kernels, random_floats(columns, 3));
        expect_product(w, x, product(*kernels, w.packed, x), kernels->isa);
      }
}

// Codes of all ones with activations of +-127 are where 16-bit sums would saturate.
TEST(Linear, LargestCodesTimesLargestActivations) {
  for (const Kernels* kernels : tables()) {
    for (const uint32_t type : kQuantTypes) {
      for (const int codes : {0xff, 0x00, 0x80}) {
        std::vector<uint8_t> blocks = TestWeight::random_blocks(type, 256, 16, 1);
        const std::vector<uint8_t> scales = blocks;
        const size_t size = reference::type_traits(type).block_bytes;
        for (uint8_t& b : blocks) b = static_cast<uint8_t>(codes);
        // The f16 scales stay; they are where the harness puts them.
        for (size_t b = 0; b < blocks.size(); b += size) {
          const auto keep = [&](size_t at, size_t n) { std::memcpy(&blocks[b + at], &scales[b + at], n); };
          if (type == GAINZ_TYPE_Q2_K) keep(80, 4);
          if (type == GAINZ_TYPE_Q3_K) keep(108, 2);
          if (type == GAINZ_TYPE_Q6_K) keep(208, 2);
          if (type == GAINZ_TYPE_MXFP4) keep(0, 1);
          if (size != 84 && size != 110 && size != 210 && size != 17) keep(0, 2);
          if (type == GAINZ_TYPE_Q4_1 || type == GAINZ_TYPE_Q5_1 || type == GAINZ_TYPE_Q4_K || type == GAINZ_TYPE_Q5_K)
            keep(2, 2);
        }
        const TestWeight w(kHost, type, 256, 16, 1, blocks);
        for (const float sign : {1.0f, -1.0f}) {
          const std::vector<ActBlock> x = quantize(*kernels, std::vector<float>(256, sign * 2.5f));
          expect_product(w, x, product(*kernels, w.packed, x), kernels->isa);
        }
      }
    }
  }
}

TEST(Linear, ScalesFromZeroToHuge) {
  for (const Kernels* kernels : tables()) {
    for (const uint16_t scale : {0x0000, 0x8000, 0x0001, 0x03ff, 0x7bff, 0xfbff}) {  // zero, subnormal, largest
      std::vector<uint8_t> blocks = TestWeight::random_blocks(GAINZ_TYPE_Q8_0, 64, 16, 1);
      for (size_t b = 0; b < blocks.size(); b += 34) std::memcpy(&blocks[b], &scale, 2);
      const TestWeight w(kHost, GAINZ_TYPE_Q8_0, 64, 16, 1, blocks);
      for (const float size : {1e-30f, 1.0f, 1e30f}) {
        const std::vector<ActBlock> x = quantize(*kernels, random_floats(64, 1, size));
        expect_product(w, x, product(*kernels, w.packed, x), kernels->isa);
      }
    }
  }
}

// The int32 sums are exact everywhere; with one block and no min the f32 part is two roundings and one more, all the same.
TEST(Linear, InstructionSetsAgreeOnOneBlock) {
  const TestWeight w(kHost, GAINZ_TYPE_Q8_0, 32, 16);
  const std::vector<float> x = random_floats(32, 8);
  const std::vector<float> want = product(*scalar_kernels(), w.packed, quantize(*scalar_kernels(), x));
  for (const Kernels* kernels : tables()) EXPECT_EQ(product(*kernels, w.packed, quantize(*kernels, x)), want) << kernels->isa;
}

TEST(Linear, ARowsBitsDoNotDependOnTheTile) {
  for (const Kernels* kernels : tables()) {
    for (const uint32_t type : kQuantTypes) {
      const TestWeight w(kHost, type, 512, 16);
      const std::vector<float> bias = random_floats(16, 4);
      std::vector<std::vector<ActBlock>> xs;
      for (uint32_t t = 0; t < kMaxTile; ++t) xs.push_back(quantize(*kernels, random_floats(512, t, t % 3 == 0 ? 1e6f : 1.0f)));
      for (uint32_t tile = 0; tile < kNumTiles; ++tile) {
        const LinearFn fn = kernels->linear[w.packed.info->format][tile];
        if (fn == nullptr) continue;
        const ActBlock* x[kMaxTile];
        float results[kMaxTile][kPanelRows];
        float* y[kMaxTile];
        for (uint32_t t = 0; t < 1u << tile; ++t) {
          x[t] = xs[kMaxTile - 1 - t].data();
          y[t] = results[t];
        }
        fn(w.packed.panel(0, 0), w.packed.num_blocks(), x, bias.data(), y);
        for (uint32_t t = 0; t < 1u << tile; ++t)
          EXPECT_EQ(std::vector<float>(y[t], y[t] + 16), product(*kernels, w.packed, xs[kMaxTile - 1 - t], bias.data()))
              << kernels->isa << type;
      }
    }
  }
}

TEST(Linear, DenseTypesAgainstExactSums) {
  for (const Kernels* kernels : tables()) {
    for (const uint32_t type : {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_BF16}) {
      for (const uint32_t columns : {1u, 2u, 37u, 256u}) {
        const TestWeight w(kHost, type, columns, 16);
        const std::vector<float> x = random_floats(columns, 6);
        std::vector<float> first;
        for (uint32_t tile = 0; tile < kNumTiles; ++tile) {
          const DenseFn fn = kernels->dense[w.packed.info->format - kNumQuantFormats][tile];
          if (fn == nullptr) continue;
          std::vector<const float*> sources(1u << tile, x.data());
          std::vector<std::vector<float>> results(1u << tile, std::vector<float>(16));
          std::vector<float*> y;
          for (auto& r : results) y.push_back(r.data());
          fn(w.packed.panel(0, 0), columns, sources.data(), nullptr, y.data());
          if (first.empty()) first = results[0];
          for (const auto& r : results) EXPECT_EQ(r, first) << kernels->isa;
        }
        for (uint32_t n = 0; n < 16; ++n) {
          double want = 0, magnitude = 0;
          for (uint32_t k = 0; k < columns; ++k) {
            const double term = static_cast<double>(w.values[n * columns + k]) * x[k];
            want += term;
            magnitude += std::fabs(term);
          }
          EXPECT_NEAR(first[n], want, 2e-6 * magnitude) << kernels->isa << type << " " << columns;
        }
      }
    }
  }
}

TEST(Quantize, RoundsToTheNearestOf255AndKeepsItsSums) {
  for (const Kernels* kernels : tables()) {
    std::vector<float> x = random_floats(96, 2);
    x[40] = -1e4f;                             // one huge outlier
    std::fill(x.begin() + 64, x.end(), 0.0f);  // all zero
    const std::vector<ActBlock> a = quantize(*kernels, x);
    for (size_t b = 0; b < 3; ++b) {
      int lo = 0, hi = 0;
      for (uint32_t i = 0; i < kBlock; ++i) {
        EXPECT_LE(std::fabs(x[b * 32 + i] - a[b].d * a[b].q[i]), a[b].d * 0.5001f) << kernels->isa;
        (i < 16 ? lo : hi) += a[b].q[i];
      }
      EXPECT_EQ(a[b].n128_lo, -128 * lo);
      EXPECT_EQ(a[b].n128_hi, -128 * hi);
      EXPECT_EQ(a[b].n128, -128 * (lo + hi));
      EXPECT_EQ(a[b].n8, -8 * (lo + hi));
      EXPECT_EQ(a[b].ds, a[b].d * static_cast<float>(lo + hi));
    }
    EXPECT_EQ(a[1].q[8], -127);
    EXPECT_EQ(a[2].d, 0.0f);
  }
}

TEST(Quantize, WhatIsNotFiniteStaysVisible) {
  for (const Kernels* kernels : tables()) {
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      std::vector<float> x(32, 1.0f);
      x[5] = bad;
      EXPECT_TRUE(std::isnan(quantize(*kernels, x)[0].d)) << kernels->isa;
    }
    const std::vector<ActBlock> tiny = quantize(*kernels, std::vector<float>(32, 1e-40f));
    EXPECT_EQ(tiny[0].d, 0.0f);
    EXPECT_EQ(tiny[0].q[0], 0);
  }
}

}  // namespace
}  // namespace gainz::onednn::test
