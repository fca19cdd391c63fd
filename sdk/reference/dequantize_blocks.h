// dequantize_blocks.h: one function for each block type, over a run of whole blocks; see dequantize.h for the formulas.
#ifndef GAINZ_SDK_REFERENCE_DEQUANTIZE_BLOCKS_H
#define GAINZ_SDK_REFERENCE_DEQUANTIZE_BLOCKS_H

#include <cstdint>
#include <cstring>

#include "half.h"

namespace gainz::reference::blocks {

inline uint16_t load_u16(const uint8_t* p) {
  uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
inline float load_f16(const uint8_t* p) { return f16_to_f32(load_u16(p)); }

// The non-linear 4-bit codes of IQ4_NL and IQ4_XS.
inline constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// in[num_blocks * block_bytes], out[num_blocks * block_elements]
void f16(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void bf16(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q4_0(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q4_1(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q5_0(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q5_1(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q8_0(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void iq4_nl(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void mxfp4(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q2_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q3_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q4_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q5_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void q6_k(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);
void iq4_xs(const uint8_t* __restrict in, float* __restrict out, uint64_t num_blocks);

}  // namespace gainz::reference::blocks

#endif
