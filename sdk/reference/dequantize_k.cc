// The types with superblocks of 256 values: Q2_K to Q6_K and IQ4_XS.
#include "dequantize_blocks.h"

namespace gainz::reference::blocks {

void q2_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 84, out += 256) {
    const uint8_t* scales = in;  // [16] scale in the low four bits, minimum in the high four
    const uint8_t* q = in + 16;  // [2][32] bytes: bits 2s and 2s + 1 of byte i of half h are code h * 128 + s * 32 + i
    const float d = load_f16(in + 80);
    const float dmin = load_f16(in + 82);
    for (int run = 0; run < 16; ++run) {
      const float scale = d * static_cast<float>(scales[run] & 15);
      const float minimum = dmin * static_cast<float>(scales[run] >> 4);
      const uint8_t* codes = q + run / 8 * 32 + run % 2 * 16;
      const int shift = run % 8 / 2 * 2;
      for (int i = 0; i < 16; ++i) out[run * 16 + i] = scale * static_cast<float>((codes[i] >> shift) & 3) - minimum;
    }
  }
}

void q3_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 110, out += 256) {
    const uint8_t* h = in;       // [32] bit i / 32 of byte i % 32: the third bit of code i
    const uint8_t* q = in + 32;  // as in Q2_K
    const uint8_t* s = in + 96;  // [12] 16 scales: low four bits in 0..7, high two bits in 8..11
    const float d = load_f16(in + 108);
    float scales[16];
    for (int j = 0; j < 16; ++j) {
      const int low = (s[j % 8] >> (j / 8 * 4)) & 15;
      const int high = (s[8 + j % 4] >> (j / 4 * 2)) & 3;
      scales[j] = d * static_cast<float>((low | (high << 4)) - 32);
    }
    for (int run = 0; run < 16; ++run) {
      const uint8_t* low = q + run / 8 * 32 + run % 2 * 16;
      const uint8_t* high = h + run % 2 * 16;
      const int shift = run % 8 / 2 * 2;
      const int bit = 1 << (run / 2);
      for (int i = 0; i < 16; ++i) {
        const int code = ((low[i] >> shift) & 3) - ((high[i] & bit) != 0 ? 0 : 4);
        out[run * 16 + i] = scales[run] * static_cast<float>(code);
      }
    }
  }
}

// Scale and minimum j of the 12 bytes that Q4_K and Q5_K hold for eight runs of 32 values.
static void scale_min(const uint8_t* s, int j, int* out_scale, int* out_min) {
  if (j < 4) {
    *out_scale = s[j] & 63;
    *out_min = s[j + 4] & 63;
  } else {
    *out_scale = (s[j + 4] & 15) | ((s[j - 4] >> 6) << 4);
    *out_min = (s[j + 4] >> 4) | ((s[j] >> 6) << 4);
  }
}

void q4_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 144, out += 256) {
    const float d = load_f16(in);
    const float dmin = load_f16(in + 2);
    const uint8_t* q = in + 16;  // [4][32] bytes: run 2j in the low, run 2j + 1 in the high four bits
    for (int j = 0; j < 8; ++j) {
      int scale = 0;
      int min = 0;
      scale_min(in + 4, j, &scale, &min);
      const float step = d * static_cast<float>(scale);
      const float offset = dmin * static_cast<float>(min);
      for (int i = 0; i < 32; ++i) {
        const int code = (q[j / 2 * 32 + i] >> (j % 2 * 4)) & 15;
        out[j * 32 + i] = step * static_cast<float>(code) - offset;
      }
    }
  }
}

void q5_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 176, out += 256) {
    const float d = load_f16(in);
    const float dmin = load_f16(in + 2);
    const uint8_t* h = in + 16;  // [32] bit j of byte i: the fifth bit of value i of run j
    const uint8_t* q = in + 48;  // as in Q4_K
    for (int j = 0; j < 8; ++j) {
      int scale = 0;
      int min = 0;
      scale_min(in + 4, j, &scale, &min);
      const float step = d * static_cast<float>(scale);
      const float offset = dmin * static_cast<float>(min);
      for (int i = 0; i < 32; ++i) {
        const int code = ((q[j / 2 * 32 + i] >> (j % 2 * 4)) & 15) | (((h[i] >> j) & 1) << 4);
        out[j * 32 + i] = step * static_cast<float>(code) - offset;
      }
    }
  }
}

void q6_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 210, out += 256) {
    const uint8_t* ql = in;            // [2][64] bytes: of half h, runs 0 and 1 in the low, 2 and 3 in the high four bits
    const uint8_t* qh = in + 128;      // [2][32] bytes: two bits for each of four runs
    const uint8_t* scales = in + 192;  // [16] signed
    const float d = load_f16(in + 208);
    for (int run = 0; run < 16; ++run) {  // of 16 values with a scale each
      const uint8_t* low = ql + run / 8 * 64 + run % 4 * 16;
      const uint8_t* high = qh + run / 8 * 32 + run % 2 * 16;
      const int low_shift = run % 8 / 4 * 4;
      const int high_shift = run % 8 / 2 * 2;
      const float scale = d * static_cast<float>(static_cast<int8_t>(scales[run]));
      for (int i = 0; i < 16; ++i) {
        const int code = ((low[i] >> low_shift) & 15) | (((high[i] >> high_shift) & 3) << 4);
        out[run * 16 + i] = scale * static_cast<float>(code - 32);
      }
    }
  }
}

void iq4_xs(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks) {
  for (uint64_t b = 0; b < num_blocks; ++b, in += 136, out += 256) {
    const float d = load_f16(in);
    const uint32_t scales_high = load_u16(in + 2);
    const uint8_t* scales_low = in + 4;
    const uint8_t* q = in + 8;  // [8][16] bytes: the first 16 values of a run in the low, the others in the high four bits
    for (int j = 0; j < 8; ++j) {
      const int low = (scales_low[j / 2] >> (j % 2 * 4)) & 15;
      const int high = static_cast<int>((scales_high >> (2 * j)) & 3);
      const float scale = d * static_cast<float>((low | (high << 4)) - 32);
      for (int i = 0; i < 16; ++i) {
        out[j * 32 + i] = scale * static_cast<float>(kIq4Values[q[j * 16 + i] & 15]);
        out[j * 32 + i + 16] = scale * static_cast<float>(kIq4Values[q[j * 16 + i] >> 4]);
      }
    }
  }
}

}  // namespace gainz::reference::blocks
