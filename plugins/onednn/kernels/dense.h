// Panel times token tile for F32, F16 and BF16 weights in f32: y = (sum over even k) + (sum over odd k), k rising. Needs F.
#pragma once

#include "kernels/panel.h"

namespace gainz::onednn {
namespace {

template <uint32_t Fmt>
inline F dense_row(const uint8_t* panel, uint64_t element) {
  if constexpr (Fmt == kDenseF32) return load(reinterpret_cast<const float*>(panel) + element);
  if constexpr (Fmt == kDenseF16) return load_f16(reinterpret_cast<const uint16_t*>(panel) + element);
  return load_bf16(reinterpret_cast<const uint16_t*>(panel) + element);
}

template <uint32_t Fmt, int NT>
void dense(const uint8_t* panel, uint32_t num_columns, const float* const* x, const float* bias, float* const* y) {
  for (uint32_t row = 0; row < kPanelRows; row += W) {
    F even[NT], odd[NT];
    GAINZ_UNROLL for (int t = 0; t < NT; ++t) even[t] = odd[t] = set1(0);
    for (uint32_t k = 0; k + 2 <= num_columns; k += 2) {
      const F w0 = dense_row<Fmt>(panel, 16ull * k + row), w1 = dense_row<Fmt>(panel, 16ull * k + 16 + row);
      GAINZ_UNROLL for (int t = 0; t < NT; ++t) {
        even[t] = fma(set1(x[t][k]), w0, even[t]);
        odd[t] = fma(set1(x[t][k + 1]), w1, odd[t]);
      }
    }
    if (num_columns % 2) {
      const F w0 = dense_row<Fmt>(panel, 16ull * (num_columns - 1) + row);
      GAINZ_UNROLL for (int t = 0; t < NT; ++t) even[t] = fma(set1(x[t][num_columns - 1]), w0, even[t]);
    }
    GAINZ_UNROLL for (int t = 0; t < NT; ++t) {
      const F f = add(even[t], odd[t]);
      store(y[t] + row, bias ? add(f, load(bias + row)) : f);
    }
  }
}

#define GAINZ_DENSE_4(fmt) \
  { dense<fmt, 1>, dense<fmt, 2>, dense<fmt, 4>, nullptr, nullptr }
#define GAINZ_DENSE_8(fmt) \
  { dense<fmt, 1>, dense<fmt, 2>, dense<fmt, 4>, dense<fmt, 8>, nullptr }

}  // namespace
}  // namespace gainz::onednn
