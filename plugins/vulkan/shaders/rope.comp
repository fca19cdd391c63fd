#version 460
// ROPE by a table of cosines and sines that the host makes for each step's positions (sdk/reference/rope.h), in the step.
#include "common.glsl"

layout(constant_id = 2) const uint kInterleaved = 0;
layout(push_constant) uniform Push {
  uint first_row, num_heads, head_dim, rotary_dim;
  uint x_offset, x_stride, y_offset, y_stride;
  uint table_offset;  // words into the step: [T][rotary_dim], cosines, then sines
};
layout(std430, binding = 1) readonly buffer X { float x[]; };
layout(std430, binding = 4) buffer Y { float y[]; };

void main() {
  const uint row = gl_WorkGroupID.y;
  if (first_row + row >= step_words[kHeaderTokens]) return;
  const uint pairs = rotary_dim / 2;
  const uint per_head = head_dim - pairs;  // a pair is one piece of work, a column that is copied another
  const uint table = table_offset + (first_row + row) * rotary_dim;
  for (uint i = gl_GlobalInvocationID.x; i < num_heads * per_head; i += gl_NumWorkGroups.x * kGroupSize) {
    const uint at = x_offset + row * x_stride + i / per_head * head_dim;
    const uint to = y_offset + row * y_stride + i / per_head * head_dim;
    const uint p = i % per_head;
    if (p >= pairs) {
      y[to + pairs + p] = x[at + pairs + p];
      continue;
    }
    const uint first = kInterleaved != 0 ? 2 * p : p;
    const uint second = kInterleaved != 0 ? 2 * p + 1 : p + pairs;
    const float cosine = uintBitsToFloat(step_words[table + p]);
    const float sine = uintBitsToFloat(step_words[table + pairs + p]);
    const float a = x[at + first];
    const float b = x[at + second];
    y[to + first] = a * cosine - b * sine;
    y[to + second] = b * cosine + a * sine;
  }
}
