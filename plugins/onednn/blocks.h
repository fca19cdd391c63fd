// The blocks of GGUF's tensor types taken apart without rounding: codes, scales, mins. Facts of the format as ggml defines it.
#pragma once

#include <cstdint>

namespace gainz::onednn {

// value = scale * (code - offset of the panel format) + min, with one scale per 32 columns, per 16 for Q2_K, Q3_K and Q6_K. For
// Q4_K the scales and mins are the 6-bit ones and d, dmin stand apart.
struct BlockParts {
  uint8_t codes[256];
  float scales[16];
  float mins[16];
  float d, dmin;
};

// `block` holds one block of `type` (a quantized GAINZ_TYPE_*).
void take_apart(uint32_t type, const uint8_t* block, BlockParts* out);

}  // namespace gainz::onednn
