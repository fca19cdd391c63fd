// Decoding of packed weight rows (formats.h): 8 values at a time, in f32, as sdk/reference/dequantize.h says.
//
// Quants of a row are `row_words` words; scales `scale_words`. FORMAT, a macro, is the width of the codes; kScales says how a
// block of 32 is scaled. Word order within a block: codes of 4 bits: word j holds columns 8 j to 8 j + 7 from the low end; codes
// of 8 bits: word 2 j + h holds columns 8 j + h, + 2, + 4, + 6.
#define FORMAT_F32 0
#define FORMAT_F16 1
#define FORMAT_BF16 2
#define FORMAT_4 3
#define FORMAT_5 4
#define FORMAT_6 5
#define FORMAT_8 6

const uint kScalePair = 0;   // f16 d and m of each block: d * (q - offset) + m
const uint kScaleSuper = 1;  // f16 d and dmin of 8 blocks, bytes scale and minimum of each: (d * scale) * q - (dmin * minimum)
const uint kScaleHalves = 2;  // f16 d of 8 blocks, a signed byte for each half block: (d * scale) * (q - offset)
layout(constant_id = 2) const uint kScales = kScalePair;
layout(constant_id = 3) const uint kOffset = 0;  // of the codes

layout(std430, binding = 2) readonly buffer Quants { uint quant_words[]; };
layout(std430, binding = 3) readonly buffer Scales { uint scale_words[]; };

struct BlockScale {
  vec2 low;   // factor and summand of columns 0 to 15
  vec2 high;  // of columns 16 to 31
};

int signed_byte(uint word, uint place) { return bitfieldExtract(int(word), int(place * 8), 8); }

BlockScale block_scale(uint at, uint block) {
#if FORMAT <= FORMAT_BF16
  return BlockScale(vec2(1, 0), vec2(1, 0));
#else
  if (kScales == kScalePair) {
    const vec2 pair = unpackHalf2x16(scale_words[at + block]);
    return BlockScale(pair, pair);
  }
  const uint first = at + block / 8 * 5;
  const vec2 pair = unpackHalf2x16(scale_words[first]);
  const uint word = scale_words[first + 1 + block % 8 / 2] >> (block % 2 * 16);
  if (kScales == kScaleSuper) {
    const vec2 scale = vec2(pair.x * float(word & 0xFFu), -(pair.y * float((word >> 8) & 0xFFu)));
    return BlockScale(scale, scale);
  }
  return BlockScale(vec2(pair.x * float(signed_byte(word, 0)), 0), vec2(pair.x * float(signed_byte(word, 1)), 0));
#endif
}

// Columns 8 j to 8 j + 7 of block `block` of the row whose quants begin at word `at`.
void decode8(uint at, uint num_blocks, uint block, uint j, BlockScale scale, out float w[8]) {
#if FORMAT == FORMAT_F32
  [[unroll]] for (uint i = 0; i < 8; ++i) w[i] = uintBitsToFloat(quant_words[at + block * 32 + j * 8 + i]);
#elif FORMAT == FORMAT_F16
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    const vec2 pair = unpackHalf2x16(quant_words[at + block * 16 + j * 4 + i]);
    w[2 * i] = pair.x;
    w[2 * i + 1] = pair.y;
  }
#elif FORMAT == FORMAT_BF16
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    const uint word = quant_words[at + block * 16 + j * 4 + i];
    w[2 * i] = uintBitsToFloat(word << 16);
    w[2 * i + 1] = uintBitsToFloat(word & 0xFFFF0000u);
  }
#else
  const vec2 s = j < 2 ? scale.low : scale.high;
  uint codes[8];
#if FORMAT == FORMAT_8
  const uint even = quant_words[at + block * 8 + 2 * j];
  const uint odd = quant_words[at + block * 8 + 2 * j + 1];
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    w[2 * i] = float(signed_byte(even, i)) * s.x + s.y;
    w[2 * i + 1] = float(signed_byte(odd, i)) * s.x + s.y;
  }
#else
  const uint word = quant_words[at + block * 4 + j];
  [[unroll]] for (uint i = 0; i < 8; ++i) codes[i] = (word >> (4 * i)) & 0xFu;
#if FORMAT == FORMAT_5
  const uint high = quant_words[at + num_blocks * 4 + block] >> (8 * j);
  [[unroll]] for (uint i = 0; i < 8; ++i) codes[i] |= ((high >> i) & 1u) << 4;
#elif FORMAT == FORMAT_6
  const uint high = quant_words[at + num_blocks * 4 + block * 2 + j / 2] >> (16 * (j & 1u));
  [[unroll]] for (uint i = 0; i < 8; ++i) codes[i] |= ((high >> (2 * i)) & 3u) << 4;
#endif
  [[unroll]] for (uint i = 0; i < 8; ++i) w[i] = float(int(codes[i]) - int(kOffset)) * s.x + s.y;
#endif
#endif
}
