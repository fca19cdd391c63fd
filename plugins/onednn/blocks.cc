#include "blocks.h"

#include <bit>

#include <cstring>

#include "gainz/sdk/types.h"
#include "reference/half.h"

namespace gainz::onednn {

namespace {

constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr int8_t kMxfp4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};  // twice E2M1

float half_at(const uint8_t* p) {
  uint16_t half = 0;
  std::memcpy(&half, p, sizeof half);
  return reference::f16_to_f32(half);
}

uint8_t signed_code(int code) { return static_cast<uint8_t>(code + 128); }

// 6-bit scale and min j of Q4_K and Q5_K from their 12 bytes.
void scale_min_k4(const uint8_t* q, int j, float* scale, float* min) {
  if (j < 4) {
    *scale = static_cast<float>(q[j] & 63);
    *min = static_cast<float>(q[j + 4] & 63);
  } else {
    *scale = static_cast<float>((q[j + 4] & 15) | (q[j - 4] >> 6) << 4);
    *min = static_cast<float>(q[j + 4] >> 4 | (q[j] >> 6) << 4);
  }
}

void q5(const uint8_t* high_bits, const uint8_t* nibbles, int offset, uint8_t* codes) {
  uint32_t high = 0;
  std::memcpy(&high, high_bits, sizeof high);
  for (int j = 0; j < 16; ++j) {
    codes[j] = static_cast<uint8_t>(((nibbles[j] & 15) | (high >> j & 1u) << 4) + static_cast<uint32_t>(offset));
    codes[j + 16] = static_cast<uint8_t>((nibbles[j] >> 4 | (high >> (j + 16) & 1u) << 4) + static_cast<uint32_t>(offset));
  }
}

void q2_k(const uint8_t* b, BlockParts* out) {
  const float d = half_at(b + 80), dmin = half_at(b + 82);
  for (int i = 0; i < 16; ++i) {
    out->scales[i] = d * static_cast<float>(b[i] & 15);
    out->mins[i] = -(dmin * static_cast<float>(b[i] >> 4));
  }
  for (int k = 0; k < 256; ++k) out->codes[k] = b[16 + k / 128 * 32 + k % 32] >> (k / 32 % 4 * 2) & 3;
}

void q3_k(const uint8_t* b, BlockParts* out) {
  const float d = half_at(b + 108);
  const uint8_t* packed = b + 96;  // 16 scales of 6 bits: low 4 in bytes 0 to 7, high 2 in bytes 8 to 11
  for (int i = 0; i < 16; ++i) {
    const int low = i < 8 ? packed[i] & 15 : packed[i - 8] >> 4, high = packed[8 + i % 4] >> (i / 4 * 2) & 3;
    out->scales[i] = d * static_cast<float>((low | high << 4) - 32);
  }
  for (int k = 0; k < 256; ++k) {
    const int low = b[32 + k / 128 * 32 + k % 32] >> (k / 32 % 4 * 2) & 3, high = b[k % 32] >> (k / 32) & 1;
    out->codes[k] = signed_code(low - (high ? 0 : 4));
  }
}

void q4_k(const uint8_t* b, BlockParts* out) {
  out->d = half_at(b);
  out->dmin = half_at(b + 2);
  for (int j = 0; j < 8; ++j) scale_min_k4(b + 4, j, &out->scales[j], &out->mins[j]);
  for (int k = 0; k < 256; ++k) out->codes[k] = b[16 + k / 64 * 32 + k % 32] >> (k / 32 % 2 * 4) & 15;
}

void q5_k(const uint8_t* b, BlockParts* out) {
  const float d = half_at(b), dmin = half_at(b + 2);
  for (int j = 0; j < 8; ++j) {
    float scale = 0, min = 0;
    scale_min_k4(b + 4, j, &scale, &min);
    out->scales[j] = d * scale;
    out->mins[j] = -(dmin * min);
  }
  for (int k = 0; k < 256; ++k) {
    const int low = b[48 + k / 64 * 32 + k % 32] >> (k / 32 % 2 * 4) & 15, high = b[16 + k % 32] >> (k / 32) & 1;
    out->codes[k] = static_cast<uint8_t>(low | high << 4);
  }
}

void q6_k(const uint8_t* b, BlockParts* out) {
  const float d = half_at(b + 208);
  for (int i = 0; i < 16; ++i) out->scales[i] = d * static_cast<float>(std::bit_cast<int8_t>(b[192 + i]));
  for (int k = 0; k < 256; ++k) {
    const int part = k / 128, j = k % 128, low = b[part * 64 + j % 64] >> (j / 64 * 4) & 15;
    const int high = b[128 + part * 32 + j % 32] >> (j / 32 * 2) & 3;
    out->codes[k] = signed_code((low | high << 4) - 32);
  }
}

void iq4_xs(const uint8_t* b, BlockParts* out) {
  const float d = half_at(b);
  const uint32_t high = static_cast<uint32_t>(b[2] | b[3] << 8);
  for (int i = 0; i < 8; ++i) {
    const int scale = (b[4 + i / 2] >> (i % 2 * 4) & 15) | static_cast<int>(high >> (2 * i) & 3u) << 4;
    out->scales[i] = d * static_cast<float>(scale - 32);
    for (int j = 0; j < 16; ++j) {
      out->codes[32 * i + j] = signed_code(kIq4Values[b[8 + 16 * i + j] & 15]);
      out->codes[32 * i + j + 16] = signed_code(kIq4Values[b[8 + 16 * i + j] >> 4]);
    }
  }
}

}  // namespace

void take_apart(uint32_t type, const uint8_t* b, BlockParts* out) {
  switch (type) {
    case GAINZ_TYPE_Q4_0:
    case GAINZ_TYPE_Q4_1: {
      const int at = type == GAINZ_TYPE_Q4_0 ? 2 : 4;
      out->scales[0] = half_at(b);
      out->mins[0] = at == 4 ? half_at(b + 2) : 0.0f;
      for (int j = 0; j < 16; ++j) {
        out->codes[j] = b[at + j] & 15;
        out->codes[j + 16] = b[at + j] >> 4;
      }
      return;
    }
    case GAINZ_TYPE_Q5_0:
      out->scales[0] = half_at(b);
      return q5(b + 2, b + 6, 128 - 16, out->codes);
    case GAINZ_TYPE_Q5_1:
      out->scales[0] = half_at(b);
      out->mins[0] = half_at(b + 2);
      return q5(b + 4, b + 8, 0, out->codes);
    case GAINZ_TYPE_Q8_0:
      out->scales[0] = half_at(b);
      for (int j = 0; j < 32; ++j) out->codes[j] = b[2 + j] ^ 0x80;
      return;
    case GAINZ_TYPE_Q2_K:
      return q2_k(b, out);
    case GAINZ_TYPE_Q3_K:
      return q3_k(b, out);
    case GAINZ_TYPE_Q4_K:
      return q4_k(b, out);
    case GAINZ_TYPE_Q5_K:
      return q5_k(b, out);
    case GAINZ_TYPE_Q6_K:
      return q6_k(b, out);
    case GAINZ_TYPE_IQ4_XS:
      return iq4_xs(b, out);
    case GAINZ_TYPE_IQ4_NL:
      out->scales[0] = half_at(b);
      for (int j = 0; j < 16; ++j) {
        out->codes[j] = signed_code(kIq4Values[b[2 + j] & 15]);
        out->codes[j + 16] = signed_code(kIq4Values[b[2 + j] >> 4]);
      }
      return;
    case GAINZ_TYPE_MXFP4:
      // Half of 2^(e - 127), for codes are doubled; the two smallest are subnormal.
      out->scales[0] = std::bit_cast<float>(b[0] < 2 ? 0x00200000u << b[0] : static_cast<uint32_t>(b[0] - 1) << 23);
      for (int j = 0; j < 16; ++j) {
        out->codes[j] = signed_code(kMxfp4Values[b[1 + j] & 15]);
        out->codes[j + 16] = signed_code(kMxfp4Values[b[1 + j] >> 4]);
      }
      return;
    default:
      return;
  }
}

}  // namespace gainz::onednn
