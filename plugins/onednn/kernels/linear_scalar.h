// Panel times one token in plain C++; the meaning is that of linear_zmm.h.
#pragma once

#include "kernels/scales.h"

namespace gainz::onednn {
namespace {

template <uint32_t Fmt>
inline int32_t code_at(const uint8_t* codes, uint32_t row, uint32_t column) {
  const uint32_t i = column / 4, place = 4 * row + column % 4;
  if constexpr (!Panel<Fmt>::kNibbles) return codes[64 * i + place];
  const uint8_t both = codes[64 * (i & 3) + place];
  return i < 4 ? both & 15 : both >> 4;
}

// The int32 sums of one block (or half) of W rows, as floats.
template <uint32_t Fmt>
inline F dots(const uint8_t* codes, const ActBlock& a, uint32_t row, uint32_t first, uint32_t last) {
  return each([&](uint32_t lane) {
    int32_t sum = 0;
    for (uint32_t k = first; k < last; ++k)
      sum += (code_at<Fmt>(codes, row + lane, k) - static_cast<int32_t>(Panel<Fmt>::kOffset)) * a.q[k];
    return static_cast<float>(sum);
  });
}

template <uint32_t Fmt, int NT>
void linear(const uint8_t* panel, uint32_t num_blocks, const ActBlock* const* x, const float* bias, float* const* y) {
  using P = Panel<Fmt>;
  static_assert(NT == 1);
  const uint8_t* heads = panel + static_cast<uint64_t>(num_blocks) * P::kCodeBytes;
  for (uint32_t row = 0; row < kPanelRows; row += W) {
    F f = set1(0);
    for (uint32_t b = 0; b < num_blocks; ++b) {
      const uint8_t* codes = panel + static_cast<uint64_t>(b) * P::kCodeBytes;
      const uint8_t* head = P::head(heads, b);
      const ActBlock& a = x[0][b];
      for (uint32_t half = 0; half < (P::kHalves ? 2 : 1); ++half) {
        const F sum = dots<Fmt>(codes, a, row, 16 * half, P::kHalves ? 16 * half + 16 : 32);
        f = fma(sum, mul(scale_of<Fmt>(head, b, half, row), set1(a.d)), f);
      }
      if constexpr (P::kMins && !P::kHalves) f = fma(min_of<Fmt>(head, b, 0, row), set1(a.ds), f);
      if constexpr (P::kMins && P::kHalves) {
        f = fma(min_of<Fmt>(head, b, 0, row), set1(a.ds_lo), f);
        f = fma(min_of<Fmt>(head, b, 1, row), set1(a.ds_hi), f);
      }
    }
    store(y[0] + row, bias ? add(f, load(bias + row)) : f);
  }
}

#define GAINZ_UNROLL
#define GAINZ_LINEAR(fmt) \
  { linear<fmt, 1>, nullptr, nullptr, nullptr, nullptr }

}  // namespace
}  // namespace gainz::onednn
