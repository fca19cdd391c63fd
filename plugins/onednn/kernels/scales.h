// The scales and mins of W rows of one block (of half a block for the formats that have them so). Needs F; local to the file.
#pragma once

#include "kernels/panel.h"

namespace gainz::onednn {
namespace {

inline F head_f16(const uint8_t* p, uint32_t row) { return load_f16(reinterpret_cast<const uint16_t*>(p) + row); }
inline F head_f32(const uint8_t* p, uint32_t row) { return load(reinterpret_cast<const float*>(p) + row); }

template <uint32_t Fmt>
inline F scale_of(const uint8_t* head, uint32_t block, uint32_t half, uint32_t row) {
  if constexpr (Fmt == kP4S || Fmt == kP4M || Fmt == kP8H) return head_f16(head, row);
  if constexpr (Fmt == kP4K) return mul(head_f16(head, row), load_u8(head + 64 + block % 8 * 32 + row));
  return head_f32(head, 16 * half + row);
}

template <uint32_t Fmt>
inline F min_of(const uint8_t* head, uint32_t block, uint32_t half, uint32_t row) {
  if constexpr (Fmt == kP4M) return head_f16(head + 32, row);
  if constexpr (Fmt == kP4K) return sub(set1(0), mul(head_f16(head + 32, row), load_u8(head + 64 + block % 8 * 32 + 16 + row)));
  if constexpr (Fmt == kP8FM) return head_f32(head + 64, row);
  return head_f32(head + 128, 16 * half + row);
}

}  // namespace
}  // namespace gainz::onednn
