// dequantize.h: what the blocks of each weight type mean, as f32 values. Pure functions, any thread. Blocks may stand at any
// address.
//
// Source: the tensor types of the GGUF file format (ggml-org, docs/gguf.md and the block structures it refers to); MXFP4: OCP
// Microscaling Formats v1.0, section 5.3. Products are taken in f32 in the order written in the .cc files, so the values are
// exact to the bit. d, m and dmin are f16; q are the codes.
//   F32 F16 BF16   one value a block
//   Q4_0 d q[32]x4       d * (q - 8)            Q4_1 d m q[32]x4           d * q + m
//   Q5_0 d h[32] q       d * (q - 16)           Q5_1 d m h[32] q           d * q + m
//   Q8_0 d q[32]x8       d * q                  IQ4_NL d q[32]x4           d * table[q]
//   MXFP4 e q[32]x4      2^(e - 128) * table[q] (the table holds doubled e2m1 values)
//   Q2_K 16 scales and minima of 4 bits, q[256]x2, d dmin      (d * scale) * q - (dmin * min)
//   Q3_K h[256] q[256]x2, 16 scales of 6 bits, d               (d * (scale - 32)) * (q - 4)
//   Q4_K d dmin, 8 scales and minima of 6 bits, q[256]x4       (d * scale) * q - (dmin * min)
//   Q5_K the same with h[256]x1 before q
//   Q6_K ql[256]x4 qh[256]x2, 16 signed scales, d              (d * scale) * (q - 32)
//   IQ4_XS d, 8 scales of 6 bits, q[256]x4                     (d * (scale - 32)) * table[q]
#ifndef GAINZ_SDK_REFERENCE_DEQUANTIZE_H
#define GAINZ_SDK_REFERENCE_DEQUANTIZE_H

#include <cstdint>

namespace gainz::reference {

struct TypeTraits {
  const char* name;  // "Q4_1"; nullptr for an unknown type
  uint32_t block_elements;
  uint32_t block_bytes;
};

// Of a GAINZ_TYPE_* that a weight may have, I32 included; {nullptr, 0, 0} for any other number.
TypeTraits type_traits(uint32_t type);

// Bytes of a row of n values; 0 for an unknown type or where n is not a whole number of blocks.
uint64_t row_bytes(uint32_t type, uint64_t n);

// out[0..n) becomes the n values of `blocks`. False, with nothing written, for an unknown type (I32 too) or n not whole blocks.
bool dequantize_row(uint32_t type, const void* blocks, float* out, uint64_t n);

}  // namespace gainz::reference

#endif
