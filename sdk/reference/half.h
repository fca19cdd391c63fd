// half.h: f16 and bf16 from and to f32. Exact one way, round to nearest, ties to even, the other way (IEEE 754-2019,
// section 4.3.1). Infinities stay, values too large for f16 become infinities, NaNs stay NaNs (quiet, sign kept). Pure
// functions, any thread.
#ifndef GAINZ_SDK_REFERENCE_HALF_H
#define GAINZ_SDK_REFERENCE_HALF_H

#include <bit>
#include <cstdint>

namespace gainz::reference {

inline float f16_to_f32(uint16_t h) {
  // Without branches, so that a loop over it becomes vectors. Only normal f32 numbers are used on the way.
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t shifted = static_cast<uint32_t>(h & 0x7FFFu) << 13;  // exponent and mantissa where f32 has them
  const auto below = [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(static_cast<int32_t>(a - b) >> 31); };  // a mask
  const uint32_t finite = below(shifted, 31u << 23);
  const uint32_t normal = shifted + (112u << 23) + (~finite & (112u << 23));  // infinities and NaNs go to exponent 255
  const float subnormal = std::bit_cast<float>(shifted + (113u << 23)) - 0x1p-14f;
  const uint32_t is_subnormal = below(shifted, 1u << 23);
  return std::bit_cast<float>(sign | (std::bit_cast<uint32_t>(subnormal) & is_subnormal) | (normal & ~is_subnormal));
}

inline uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x1FFu));
  if (magnitude >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {                                               // below 2^-14: subnormal or zero
    // Adding 0.5 leaves the value in units of 2^-24 in the low bits, rounded to nearest even by the addition itself.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000u));
  }
  const uint32_t rebased = magnitude - (112u << 23);
  return static_cast<uint16_t>(sign | ((rebased + 0xFFFu + ((rebased >> 13) & 1u)) >> 13));
}

inline float bf16_to_f32(uint16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b) << 16); }

inline uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace gainz::reference

#endif
