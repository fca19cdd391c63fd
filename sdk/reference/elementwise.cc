#include "elementwise.h"

#include <cmath>

namespace gainz::reference {

void add(const float* a, const float* b, float* out, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

void mul(const float* a, const float* b, float* out, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
}

void mul_row(const float* a, const float* b, float* out, uint64_t num_rows, uint64_t cols) {
  for (uint64_t row = 0; row < num_rows; ++row) mul(a + row * cols, b, out + row * cols, cols);
}

void scale(const float* x, float factor, float* out, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = x[i] * factor;
}

float softcap_value(float x, float cap) { return static_cast<float>(std::tanh(static_cast<double>(x / cap))) * cap; }

void softcap(const float* x, float cap, float* out, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = softcap_value(x[i], cap);
}

}  // namespace gainz::reference
