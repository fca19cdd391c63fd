// dot.h: the order in which every kernel here sums along a row. Pure functions, any thread.
//
// Normative order, for n values in f32: lane j of kLanes takes the values k with k mod kLanes == j, in rising k, each product
// rounded before it is added (no fused multiply-add); then the lanes are joined pairwise: j with j + 8, j + 4, j + 2, j + 1.
// The result depends on the two rows alone, never on what is computed beside them, and any vector width up to kLanes gives the
// same bits.
#ifndef GAINZ_SDK_REFERENCE_DOT_H
#define GAINZ_SDK_REFERENCE_DOT_H

#include <cstdint>

namespace gainz::reference {

inline constexpr uint64_t kLanes = 16;

// sum of a[k] * b[k]; a[n], b[n]
float dot(const float* a, const float* b, uint64_t n);

// out[i * out_stride] = dot(weight, x + i * x_stride) for each of num_rows rows. The same bits as dot, with the weight row kept
// near.
void dot_rows(const float* weight, const float* x, uint64_t x_stride, uint64_t num_rows, uint64_t n, float* out,
              uint64_t out_stride);

// sum of a[k]; and of (a[k] - mean)^2
float sum(const float* a, uint64_t n);
float sum_squared_deviations(const float* a, float mean, uint64_t n);

// y[k] += scale * x[k]
void add_scaled(float scale, const float* x, float* y, uint64_t n);

}  // namespace gainz::reference

#endif
