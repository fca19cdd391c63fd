#include "dot.h"

namespace gainz::reference {

static float join(float* lanes) {
  for (uint64_t width = kLanes / 2; width > 0; width /= 2) {
    for (uint64_t j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  }
  return lanes[0];
}

// Lanes of term(k) for k in [0, n). The inner loop has a fixed length, which compilers turn into vectors without changing a
// bit.
template <class Term>
static inline float sum_lanes(uint64_t n, Term term) {
  float lanes[kLanes] = {};
  const uint64_t whole = n - n % kLanes;
  for (uint64_t k = 0; k < whole; k += kLanes) {
    for (uint64_t j = 0; j < kLanes; ++j) lanes[j] += term(k + j);
  }
  for (uint64_t k = whole; k < n; ++k) lanes[k - whole] += term(k);
  return join(lanes);
}

float dot(const float* a, const float* b, uint64_t n) {
  return sum_lanes(n, [a, b](uint64_t k) { return a[k] * b[k]; });
}

void dot_rows(const float* weight, const float* x, uint64_t x_stride, uint64_t num_rows, uint64_t n, float* out,
              uint64_t out_stride) {
  for (uint64_t i = 0; i < num_rows; ++i) out[i * out_stride] = dot(weight, x + i * x_stride, n);
}

float sum(const float* a, uint64_t n) {
  return sum_lanes(n, [a](uint64_t k) { return a[k]; });
}

float sum_squared_deviations(const float* a, float mean, uint64_t n) {
  return sum_lanes(n, [a, mean](uint64_t k) {
    const float deviation = a[k] - mean;
    return deviation * deviation;
  });
}

void add_scaled(float scale, const float* x, float* y, uint64_t n) {
  for (uint64_t k = 0; k < n; ++k) y[k] += scale * x[k];
}

}  // namespace gainz::reference
