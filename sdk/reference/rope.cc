#include "rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gainz::reference {

// The pair, as a real number, that turns `beta` times in original_context tokens.
static double yarn_pair(const gainz_rope_attr& attr, float beta) {
  const double turns = static_cast<double>(attr.original_context) / (2.0 * std::numbers::pi * static_cast<double>(beta));
  return static_cast<double>(attr.rotary_dim) * std::log(turns) / (2.0 * std::log(static_cast<double>(attr.base)));
}

void rope_frequencies(const gainz_rope_attr& attr, const float* factors, float* inverse) {
  const uint32_t half = attr.rotary_dim / 2;
  const float freq_scale = attr.freq_scale == 0.0f ? 1.0f : attr.freq_scale;
  double low = 0;
  double high = 0;
  if (attr.yarn_mix != 0.0f) {
    const double last = static_cast<double>(attr.rotary_dim) - 1;
    low = std::max(0.0, std::floor(yarn_pair(attr, attr.yarn_beta_fast)));
    high = std::min(last, std::ceil(yarn_pair(attr, attr.yarn_beta_slow)));
  }
  for (uint32_t i = 0; i < half; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(attr.rotary_dim);
    const auto power = static_cast<float>(std::pow(static_cast<double>(attr.base), static_cast<double>(exponent)));
    float unscaled = 1.0f / power;
    if (factors != nullptr) unscaled /= factors[i];
    const float scaled = unscaled * freq_scale;
    if (attr.yarn_mix == 0.0f) {
      inverse[i] = scaled;
      continue;
    }
    const double ramp = std::clamp((static_cast<double>(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
    const auto mix = static_cast<float>((1.0 - ramp) * static_cast<double>(attr.yarn_mix));
    inverse[i] = scaled * (1.0f - mix) + unscaled * mix;
  }
}

void rope(const float* x, const int32_t* positions, const gainz_rope_attr& attr, const float* inverse, float* out,
          uint64_t num_tokens, float* turns) {
  const uint64_t half = attr.rotary_dim / 2;
  const float magnitude = attr.magnitude == 0.0f ? 1.0f : attr.magnitude;
  float* cosines = turns;
  float* sines = turns + half;
  for (uint64_t t = 0; t < num_tokens; ++t) {
    for (uint64_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(positions[t]) * inverse[i];
      cosines[i] = static_cast<float>(std::cos(static_cast<double>(angle))) * magnitude;
      sines[i] = static_cast<float>(std::sin(static_cast<double>(angle))) * magnitude;
    }
    for (uint64_t h = 0; h < attr.num_heads; ++h, x += attr.head_dim, out += attr.head_dim) {
      for (uint64_t i = 0; i < half; ++i) {
        const uint64_t first = attr.mode == GAINZ_ROPE_INTERLEAVED ? 2 * i : i;
        const uint64_t second = attr.mode == GAINZ_ROPE_INTERLEAVED ? 2 * i + 1 : i + half;
        const float a = x[first];
        const float b = x[second];
        out[first] = a * cosines[i] - b * sines[i];
        out[second] = b * cosines[i] + a * sines[i];
      }
      for (uint64_t c = attr.rotary_dim; c < attr.head_dim; ++c) out[c] = x[c];
    }
  }
}

}  // namespace gainz::reference
