#include "formats.h"

#include <algorithm>
#include <cstring>

#include "gainz/sdk/types.h"
#include "reference/dequantize.h"
#include "reference/dequantize_blocks.h"
#include "reference/half.h"

namespace gainz::vulkan {

namespace {

using reference::blocks::load_u16;

constexpr uint64_t kBlock = 32;
constexpr uint64_t kSuperBlocks = 8;  // blocks of 32 in one of 256

uint64_t blocks_of(uint64_t columns) { return (columns + kBlock - 1) / kBlock; }

// What 32 columns of a quantized row are: codes, and for the types of 256 columns the bytes of their scales.
struct Codes {
  uint8_t q[kBlock];
  uint8_t scale[2];  // scale and minimum, or the scales of the halves
};

void nibbles(const uint8_t* q, Codes* out) {
  for (int i = 0; i < 16; ++i) {
    out->q[i] = q[i] & 0xF;
    out->q[i + 16] = q[i] >> 4;
  }
}

void fifth_bits(const uint8_t* high, Codes* out) {
  uint32_t bits = 0;
  std::memcpy(&bits, high, sizeof bits);
  for (int i = 0; i < 32; ++i) out->q[i] = static_cast<uint8_t>(out->q[i] | (bits >> i & 1u) << 4);
}

// Q4_K and Q5_K: eight scales and minima of six bits in twelve bytes.
void scale_and_minimum(const uint8_t* s, uint32_t j, Codes* out) {
  if (j < 4) {
    out->scale[0] = s[j] & 63;
    out->scale[1] = s[j + 4] & 63;
  } else {
    out->scale[0] = static_cast<uint8_t>((s[j + 4] & 0xF) | (s[j - 4] >> 6) << 4);
    out->scale[1] = static_cast<uint8_t>((s[j + 4] >> 4) | (s[j] >> 6) << 4);
  }
}

void super_nibbles(const uint8_t* q, uint32_t j, Codes* out) {
  for (uint32_t i = 0; i < 32; ++i) out->q[i] = (q[j / 2 * 32 + i] >> (j % 2 * 4)) & 0xF;
}

// Block `b` of a row; *out_pair gets the two f16 that go with it (or with its super block).
void read_block(uint32_t type, const uint8_t* row, uint64_t b, Codes* out, uint32_t* out_pair) {
  const uint32_t bytes = reference::type_traits(type).block_bytes;
  const bool super = reference::type_traits(type).block_elements == kBlock * kSuperBlocks;
  const uint8_t* at = row + (super ? b / kSuperBlocks : b) * bytes;
  const auto j = static_cast<uint32_t>(b % kSuperBlocks);
  *out_pair = load_u16(at);
  switch (type) {
    case GAINZ_TYPE_Q4_0:
      return nibbles(at + 2, out);
    case GAINZ_TYPE_IQ4_NL:
      nibbles(at + 2, out);
      for (uint8_t& q : out->q) q = static_cast<uint8_t>(reference::blocks::kIq4Values[q]);
      return;
    case GAINZ_TYPE_Q4_1:
      *out_pair |= uint32_t{load_u16(at + 2)} << 16;
      return nibbles(at + 4, out);
    case GAINZ_TYPE_Q5_0:
      nibbles(at + 6, out);
      return fifth_bits(at + 2, out);
    case GAINZ_TYPE_Q5_1:
      *out_pair |= uint32_t{load_u16(at + 2)} << 16;
      nibbles(at + 8, out);
      return fifth_bits(at + 4, out);
    case GAINZ_TYPE_Q8_0:
      std::memcpy(out->q, at + 2, 32);
      return;
    case GAINZ_TYPE_Q4_K:
      *out_pair |= uint32_t{load_u16(at + 2)} << 16;
      scale_and_minimum(at + 4, j, out);
      return super_nibbles(at + 16, j, out);
    case GAINZ_TYPE_Q5_K:
      *out_pair |= uint32_t{load_u16(at + 2)} << 16;
      scale_and_minimum(at + 4, j, out);
      super_nibbles(at + 48, j, out);
      for (int i = 0; i < 32; ++i) out->q[i] = static_cast<uint8_t>(out->q[i] | (at[16 + i] >> j & 1) << 4);
      return;
    default: {  // Q6_K
      *out_pair = load_u16(at + 208);
      const uint8_t* low = at + j / 4 * 64 + j % 2 * 32;
      const uint8_t* high = at + 128 + j / 4 * 32;
      for (int i = 0; i < 32; ++i)
        out->q[i] = static_cast<uint8_t>((low[i] >> (j % 4 / 2 * 4) & 0xF) | (high[i] >> (j % 4 * 2) & 3) << 4);
      std::memcpy(out->scale, at + 192 + 2 * j, 2);
      return;
    }
  }
}

void pack_codes(const Packing& packing, const Codes& codes, uint64_t b, uint64_t num_blocks, uint32_t* quants) {
  if (packing.format == Format::k8) {
    for (uint32_t w = 0; w < 8; ++w) {
      uint32_t word = 0;
      for (uint32_t i = 0; i < 4; ++i) word |= uint32_t{codes.q[w / 2 * 8 + 2 * i + w % 2]} << (8 * i);
      quants[b * 8 + w] = word;
    }
    return;
  }
  for (uint32_t w = 0; w < 4; ++w) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < 8; ++i) word |= (codes.q[w * 8 + i] & 0xFu) << (4 * i);
    quants[b * 4 + w] = word;
  }
  if (packing.format == Format::k5) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < 32; ++i) word |= (codes.q[i] >> 4 & 1u) << i;
    quants[num_blocks * 4 + b] = word;
  } else if (packing.format == Format::k6) {
    for (uint32_t h = 0; h < 2; ++h) {
      uint32_t word = 0;
      for (uint32_t i = 0; i < 16; ++i) word |= (codes.q[h * 16 + i] >> 4 & 3u) << (2 * i);
      quants[num_blocks * 4 + b * 2 + h] = word;
    }
  }
}

// Dense rows by way of f32, which is exact for all but the types that are converted.
void pack_dense(uint32_t type, const Packing& packing, const uint8_t* row, uint64_t columns, uint32_t* quants) {
  const uint32_t block = reference::type_traits(type).block_elements;
  const uint32_t bytes = reference::type_traits(type).block_bytes;
  float values[kBlock * kSuperBlocks];
  const uint64_t step = std::max<uint64_t>(block, kBlock);
  for (uint64_t at = 0; at < blocks_of(columns) * kBlock; at += step) {
    const uint64_t n = std::min(step, columns > at ? columns - at : 0);
    std::fill_n(values, step, 0.0f);
    if (n != 0) reference::dequantize_row(type, row + at / block * bytes, values, n);
    for (uint64_t i = 0; i < step; i += 2) {
      if (packing.format == Format::kF32) {
        std::memcpy(quants + at + i, values + i, 8);
        continue;
      }
      const bool half = packing.format == Format::kF16;
      const uint32_t low = half ? reference::f32_to_f16(values[i]) : reference::f32_to_bf16(values[i]);
      const uint32_t high = half ? reference::f32_to_f16(values[i + 1]) : reference::f32_to_bf16(values[i + 1]);
      quants[(at + i) / 2] = low | high << 16;
    }
  }
}

}  // namespace

uint64_t Packing::row_words(uint64_t columns) const {
  constexpr uint64_t kBlockWords[] = {32, 16, 16, 4, 5, 6, 8};
  return blocks_of(columns) * kBlockWords[static_cast<uint32_t>(format)];
}

uint64_t Packing::row_scale_words(uint64_t columns) const {
  if (is_dense()) return 0;
  return scales == Scales::kPair ? blocks_of(columns) : blocks_of(columns) / kSuperBlocks * 5;
}

bool packing_of(uint32_t type, bool wide_range, Packing* out) {
  switch (type) {
    case GAINZ_TYPE_F32:
      *out = {Format::kF32};
      return true;
    case GAINZ_TYPE_F16:
      *out = {Format::kF16};
      return true;
    case GAINZ_TYPE_BF16:
      *out = {Format::kBf16};
      return true;
    case GAINZ_TYPE_Q4_0:
      *out = {Format::k4, Scales::kPair, 8};
      return true;
    case GAINZ_TYPE_Q4_1:
      *out = {Format::k4, Scales::kPair};
      return true;
    case GAINZ_TYPE_Q5_0:
      *out = {Format::k5, Scales::kPair, 16};
      return true;
    case GAINZ_TYPE_Q5_1:
      *out = {Format::k5, Scales::kPair};
      return true;
    case GAINZ_TYPE_Q8_0:
    case GAINZ_TYPE_IQ4_NL:  // its table holds bytes: exact
      *out = {Format::k8, Scales::kPair};
      return true;
    case GAINZ_TYPE_Q4_K:
      *out = {Format::k4, Scales::kSuper};
      return true;
    case GAINZ_TYPE_Q5_K:
      *out = {Format::k5, Scales::kSuper};
      return true;
    case GAINZ_TYPE_Q6_K:
      *out = {Format::k6, Scales::kHalves, 32};
      return true;
    case GAINZ_TYPE_Q2_K:
    case GAINZ_TYPE_Q3_K:
    case GAINZ_TYPE_IQ4_XS:
    case GAINZ_TYPE_MXFP4:
      *out = {wide_range ? Format::kF32 : Format::kF16, Scales::kPair, 0, true};
      return true;
    default:
      return false;
  }
}

void pack_row(uint32_t type, const Packing& packing, const uint8_t* row, uint64_t columns, uint32_t* quants, uint32_t* scales) {
  if (packing.is_dense()) return pack_dense(type, packing, row, columns, quants);
  const uint64_t num_blocks = blocks_of(columns);
  uint32_t halves = 0;  // the scale bytes of an even block, until its neighbour comes
  for (uint64_t b = 0; b < num_blocks; ++b) {
    Codes codes{};
    uint32_t pair = 0;
    read_block(type, row, b, &codes, &pair);
    pack_codes(packing, codes, b, num_blocks, quants);
    if (packing.scales == Scales::kPair) {
      scales[b] = pair;
      continue;
    }
    uint32_t* super = scales + b / kSuperBlocks * 5;
    if (b % kSuperBlocks == 0) super[0] = pair;
    const uint32_t bytes = codes.scale[0] | uint32_t{codes.scale[1]} << 8;
    if (b % 2 == 0) halves = bytes;
    if (b % 2 == 1) super[1 + b % kSuperBlocks / 2] = halves | bytes << 16;
  }
}

}  // namespace gainz::vulkan
