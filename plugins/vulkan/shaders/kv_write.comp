#version 460
// KV_WRITE of one side, K or V: rows [T, heads * dim] to their slots (sdk/reference/kv.h has the rounding).
#include "common.glsl"
#include "kv.glsl"

layout(constant_id = 2) const uint kType = kKvF32;
layout(push_constant) uniform Push {
  uint first_row, num_heads, dim, x_offset, x_stride;
  uint slots_offset;  // words into the step
};
layout(std430, binding = 1) readonly buffer X { float x[]; };
layout(std430, binding = 4) writeonly buffer Pages { uint pages[]; };

void write_block(uint from, uint to) {
  float largest = 0.0;
  for (uint i = 0; i < 32; ++i) largest = max(largest, abs(x[from + i]));
  const float d = largest / 127.0;
  const float inverse = d == 0.0 ? 0.0 : 1.0 / d;
  pages[to] = to_f16(d);
  for (uint j = 0; j < 8; ++j) {
    uint word = 0;
    for (uint i = 0; i < 4; ++i) {
      const float q = x[from + j * 4 + i] * inverse;
      const float held = q != q ? 0.0 : clamp(q, -127.0, 127.0);
      const int code = int(sign(held) * floor(abs(held) + 0.5));
      word |= (uint(code) & 0xFFu) << (8 * i);
    }
    pages[to + 1 + j] = word;
  }
}

void main() {
  const uint row = gl_WorkGroupID.y;
  if (first_row + row >= step_words[kHeaderTokens]) return;
  const uint slot = step_words[slots_offset + first_row + row];
  const uint words = kv_row_words(kType, dim);
  const uint from = x_offset + row * x_stride;
  const uint to = slot * num_heads * words;
  const uint pieces = kType == kKvQ8 ? dim / 32 : words;  // of a head
  for (uint i = gl_GlobalInvocationID.x; i < num_heads * pieces; i += gl_NumWorkGroups.x * kGroupSize) {
    const uint head = i / pieces;
    const uint piece = i % pieces;
    if (kType == kKvF32) {
      pages[to + i] = floatBitsToUint(x[from + i]);
    } else if (kType == kKvF16) {
      const uint c = head * dim + 2 * piece;
      uint word = to_f16(x[from + c]);
      if (2 * piece + 1 < dim) word |= to_f16(x[from + c + 1]) << 16;
      pages[to + i] = word;
    } else {
      write_block(from + head * dim + piece * 32, to + head * words + piece * 9);
    }
  }
}
