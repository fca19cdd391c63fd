#include "activation.h"

#include <cmath>
#include <numbers>

#include "gainz/sdk/ops.h"

namespace gainz::reference {

float activation_value(uint32_t kind, float value) {
  const auto x = static_cast<double>(value);
  switch (kind) {
    case GAINZ_ACTIVATION_SILU:
      return static_cast<float>(x / (1.0 + std::exp(-x)));
    case GAINZ_ACTIVATION_GELU_TANH: {
      const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return static_cast<float>(0.5 * x * (1.0 + std::tanh(inner)));
    }
    case GAINZ_ACTIVATION_GELU_ERF:
      return static_cast<float>(0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2)));
    case GAINZ_ACTIVATION_RELU:
      return value < 0.0f ? 0.0f : value;
    case GAINZ_ACTIVATION_RELU2:
      return value < 0.0f ? 0.0f : value * value;
    default:
      return NAN;
  }
}

void activation(uint32_t kind, const float* x, float* out, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = activation_value(kind, x[i]);
}

void gated_activation(uint32_t kind, const float* gate, const float* up, float* out, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) out[i] = activation_value(kind, gate[i]) * up[i];
}

}  // namespace gainz::reference
