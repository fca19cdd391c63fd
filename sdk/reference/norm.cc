#include "norm.h"

#include <cmath>

#include "dot.h"

namespace gainz::reference {

void rmsnorm(const float* x, const float* w, float* out, uint64_t num_rows, uint64_t num_groups, uint64_t dim, float epsilon) {
  for (uint64_t run = 0; run < num_rows * num_groups; ++run, x += dim, out += dim) {
    const float mean_square = dot(x, x, dim) / static_cast<float>(dim);
    const float scale = 1.0f / std::sqrt(mean_square + epsilon);
    for (uint64_t k = 0; k < dim; ++k) {
      const float unit = x[k] * scale;
      out[k] = w != nullptr ? w[k] * unit : unit;
    }
  }
}

void layernorm(const float* x, const float* w, const float* b, float* out, uint64_t num_rows, uint64_t dim, float epsilon) {
  for (uint64_t row = 0; row < num_rows; ++row, x += dim, out += dim) {
    const float mean = sum(x, dim) / static_cast<float>(dim);
    const float variance = sum_squared_deviations(x, mean, dim) / static_cast<float>(dim);
    const float scale = 1.0f / std::sqrt(variance + epsilon);
    for (uint64_t k = 0; k < dim; ++k) {
      const float unit = (x[k] - mean) * scale;
      const float scaled = w != nullptr ? unit * w[k] : unit;
      out[k] = b != nullptr ? scaled + b[k] : scaled;
    }
  }
}

}  // namespace gainz::reference
