// The types with blocks of 1 and 32 values.
#include "dequantize_blocks.h"

namespace gainz::reference::blocks {

void f16(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  uint64_t b = 0;
  for (; b + 16 <= num_blocks; b += 16) {  // 16 at a time, so that the loop over them becomes vectors
    uint16_t halves[16];
    std::memcpy(halves, in + 2 * b, sizeof halves);
    for (int i = 0; i < 16; ++i) out[b + static_cast<uint64_t>(i)] = f16_to_f32(halves[i]);
  }
  for (; b < num_blocks; ++b) out[b] = load_f16(in + 2 * b);
}

void bf16(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b) out[b] = bf16_to_f32(load_u16(in + 2 * b));
}

void q4_0(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 18, out += 32) {
    const float d = load_f16(in);
    const uint8_t* q = in + 2;
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>((q[i] & 15) - 8);
      out[i + 16] = d * static_cast<float>((q[i] >> 4) - 8);
    }
  }
}

void q4_1(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 20, out += 32) {
    const float d = load_f16(in);
    const float m = load_f16(in + 2);
    const uint8_t* q = in + 4;
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(q[i] & 15) + m;
      out[i + 16] = d * static_cast<float>(q[i] >> 4) + m;
    }
  }
}

// The 32 codes of a 5-bit block: four bits from q, the fifth from bit i of the mask h.
static void codes5(const uint8_t* h, const uint8_t* q, uint8_t* codes) {
  for (int byte = 0; byte < 4; ++byte) {
    for (int i = 0; i < 8; ++i) codes[byte * 8 + i] = (h[byte] & (1 << i)) != 0 ? 16 : 0;
  }
  for (int i = 0; i < 16; ++i) {
    codes[i] = static_cast<uint8_t>(codes[i] | (q[i] & 15));
    codes[i + 16] = static_cast<uint8_t>(codes[i + 16] | (q[i] >> 4));
  }
}

void q5_0(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 22, out += 32) {
    const float d = load_f16(in);
    uint8_t codes[32];
    codes5(in + 2, in + 6, codes);
    for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(codes[i] - 16);
  }
}

void q5_1(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 24, out += 32) {
    const float d = load_f16(in);
    const float m = load_f16(in + 2);
    uint8_t codes[32];
    codes5(in + 4, in + 8, codes);
    for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(codes[i]) + m;
  }
}

void q8_0(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 34, out += 32) {
    const float d = load_f16(in);
    for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<int8_t>(in[2 + i]));
  }
}

void iq4_nl(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 18, out += 32) {
    const float d = load_f16(in);
    const uint8_t* q = in + 2;
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(kIq4Values[q[i] & 15]);
      out[i + 16] = d * static_cast<float>(kIq4Values[q[i] >> 4]);
    }
  }
}

void mxfp4(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  static constexpr int8_t kDoubledE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  for (uint64_t b = 0; b < num_blocks; ++b, in += 17, out += 32) {
    // Half of the shared scale 2^(e - 127), since the table is doubled; the two smallest are subnormal in f32.
    const uint32_t e = in[0];
    const float half_scale = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
    const uint8_t* q = in + 1;
    for (int i = 0; i < 16; ++i) {
      out[i] = half_scale * static_cast<float>(kDoubledE2m1[q[i] & 15]);
      out[i + 16] = half_scale * static_cast<float>(kDoubledE2m1[q[i] >> 4]);
    }
  }
}

}  // namespace gainz::reference::blocks
