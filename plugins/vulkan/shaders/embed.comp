#version 460
// EMBED: row tokens[t] of a packed matrix, decoded to f32.
#include "common.glsl"
#include "weights.glsl"

layout(push_constant) uniform Push {
  uint first_row, num_blocks, num_columns, row_words, row_scale_words;
  uint tokens_offset;          // words into the step
  uint first_id, num_ids;      // rows of the matrix that lie in the bindings
  uint y_offset, y_stride;
};
layout(std430, binding = 4) writeonly buffer Y { float y[]; };

void main() {
  const uint t = gl_WorkGroupID.y;
  if (first_row + t >= step_words[kHeaderTokens]) return;
  const uint id = step_words[tokens_offset + first_row + t];
  if (id < first_id || id - first_id >= num_ids) return;  // another dispatch has it
  const uint row = id - first_id;
  for (uint piece = gl_LocalInvocationID.x; piece < num_blocks * 4; piece += kGroupSize) {
    float w[8];
    decode8(row * row_words, num_blocks, piece / 4, piece % 4, block_scale(row * row_scale_words, piece / 4), w);
    for (uint i = 0; i < 8 && piece * 8 + i < num_columns; ++i) y[y_offset + t * y_stride + piece * 8 + i] = w[i];
  }
}
