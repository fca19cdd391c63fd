// encode_blocks: plain quantizers for the simple types, valid pseudo-random blocks for the others.
// Layouts and rounding: ggml's block definitions and its reference quantizers (facts of the format).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "support/tiny_model.h"

namespace gainz::test {

namespace {

uint16_t to_f16(float value) {  // round to nearest, ties to even; too large becomes infinity
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) return static_cast<uint16_t>(sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal in f16: a multiple of 2^-24
    const auto steps = static_cast<uint32_t>(std::nearbyint(std::bit_cast<float>(magnitude) * 16777216.0f));
    return static_cast<uint16_t>(sign | steps);
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

uint16_t to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

float inverse(float value) { return value == 0 ? 0.0f : 1.0f / value; }

void q8_0(std::span<const float> x, Bytes& out) {
  float amax = 0;
  for (const float value : x) amax = std::max(amax, std::fabs(value));
  const float scale = amax / 127.0f;
  append<uint16_t>(out, to_f16(scale));
  for (const float value : x) append<int8_t>(out, static_cast<int8_t>(std::round(value * inverse(scale))));
}

// 16 bytes of nibbles: value j in the low half of byte j, value j + 16 in its high half.
template <class Quantize>
void nibbles(std::span<const float> x, Bytes& out, Quantize quantize) {
  for (size_t j = 0; j < 16; ++j) append<uint8_t>(out, static_cast<uint8_t>(quantize(x[j]) | quantize(x[j + 16]) << 4));
}

void q4_0(std::span<const float> x, Bytes& out) {
  float extreme = 0;  // the value of largest magnitude, with its sign, becomes code 0
  for (const float value : x) extreme = std::fabs(value) > std::fabs(extreme) ? value : extreme;
  const float scale = extreme / -8.0f, factor = inverse(scale);
  append<uint16_t>(out, to_f16(scale));
  nibbles(x, out, [factor](float value) { return std::min(15, static_cast<int>(value * factor + 8.5f)); });
}

void q4_1(std::span<const float> x, Bytes& out) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const float base = *low, scale = (*high - base) / 15.0f, factor = inverse(scale);
  append<uint16_t>(out, to_f16(scale));
  append<uint16_t>(out, to_f16(base));
  nibbles(x, out, [=](float value) { return std::min(15, static_cast<int>((value - base) * factor + 0.5f)); });
}

// A type whose blocks are random bytes but for its scales: f16 values at byte offsets, as multiples of the block's largest
// magnitude.
struct RandomType {
  std::string_view name;
  size_t block, bytes;
  struct Scale {
    size_t at;
    float factor;
  };
  std::vector<Scale> scales;
};

const std::vector<RandomType>& random_types() {
  static const std::vector<RandomType> kTypes = {
      {"Q5_0", 32, 22, {{0, 1.0f / 16}}},
      {"Q5_1", 32, 24, {{0, 2.0f / 31}, {2, -1.0f}}},
      {"Q2_K", 256, 84, {{80, 1.0f / 16}, {82, 1.5f / 16}}},
      {"Q3_K", 256, 110, {{108, 1.0f / 64}}},
      {"Q4_K", 256, 144, {{0, 1.0f / 256}, {2, 7.5f / 256}}},
      {"Q5_K", 256, 176, {{0, 1.0f / 512}, {2, 15.5f / 512}}},
      {"Q6_K", 256, 210, {{208, 1.0f / 2048}}},
      {"IQ4_NL", 32, 18, {{0, 1.0f / 127}}},
      {"IQ4_XS", 256, 136, {{0, 1.0f / 2032}}},
      {"MXFP4", 32, 17, {}},
  };
  return kTypes;
}

void random_block(const RandomType& type, std::span<const float> x, Bytes& out) {
  uint64_t state = 0;
  float amax = 0;
  for (const float value : x) {
    state = state * 0x9e3779b97f4a7c15u + std::bit_cast<uint32_t>(value);
    amax = std::max(amax, std::fabs(value));
  }
  const size_t start = out.size();
  for (size_t i = 0; i < type.bytes; ++i) {
    const float noise = tiny_uniform(state, 0, i);
    append<uint8_t>(out, static_cast<uint8_t>(static_cast<int>((noise + 1.0f) * 128.0f)));
  }
  for (const RandomType::Scale& scale : type.scales) {
    const uint16_t half = to_f16(amax * scale.factor);
    std::memcpy(out.data() + start + scale.at, &half, sizeof half);
  }
  if (type.name == "MXFP4") out[start] = static_cast<std::byte>(std::max(1, 127 + std::ilogb(std::max(amax, 1e-30f) / 6.0f)));
}

}  // namespace

Bytes encode_blocks(std::string_view type, std::span<const float> values) {
  Bytes out;
  if (type == "F32") {
    for (const float value : values) append<float>(out, value);
  } else if (type == "F16") {
    for (const float value : values) append<uint16_t>(out, to_f16(value));
  } else if (type == "BF16") {
    for (const float value : values) append<uint16_t>(out, to_bf16(value));
  } else if (type == "Q8_0" || type == "Q4_0" || type == "Q4_1") {
    const auto quantize = type == "Q8_0" ? q8_0 : type == "Q4_0" ? q4_0 : q4_1;
    for (size_t i = 0; i + 32 <= values.size(); i += 32) quantize(values.subspan(i, 32), out);
  } else {
    for (const RandomType& known : random_types()) {
      if (known.name != type) continue;
      for (size_t i = 0; i + known.block <= values.size(); i += known.block)
        random_block(known, values.subspan(i, known.block), out);
    }
  }
  return out;
}

}  // namespace gainz::test
