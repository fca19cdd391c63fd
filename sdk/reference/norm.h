// norm.h: RMSNORM and LAYERNORM over rows [num_rows, cols] in f32. Sums in the order of dot.h. Pure functions, any thread.
#ifndef GAINZ_SDK_REFERENCE_NORM_H
#define GAINZ_SDK_REFERENCE_NORM_H

#include <cstdint>

namespace gainz::reference {

// x, out [num_rows, num_groups * dim] (may be the same); w[dim] or nullptr. Each run of dim columns:
//   out = w * (x * (1 / sqrt(sum(x^2) / dim + epsilon)))      Zhang and Sennrich 2019, equation 4
void rmsnorm(const float* x, const float* w, float* out, uint64_t num_rows, uint64_t num_groups, uint64_t dim, float epsilon);

// x, out [num_rows, dim] (may be the same); w[dim], b[dim] or nullptr.
//   out = (x - mean) * (1 / sqrt(variance + epsilon)) * w + b   Ba, Kiros and Hinton 2016; variance over dim, not dim - 1
void layernorm(const float* x, const float* w, const float* b, float* out, uint64_t num_rows, uint64_t dim, float epsilon);

}  // namespace gainz::reference

#endif
