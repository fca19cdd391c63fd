#version 460
// ATTENTION (sdk/reference/attention.h): one workgroup for a query row and kHeads query heads that share a KV head. The context
// is walked in chunks of one position a lane from the first position that the query sees; the largest score is kept as it goes
// and what was summed is rescaled (Milakov and Gimelshein 2018). Chunks depend on the query alone, so its bits do too.
#include "common.glsl"
#include "math.glsl"
#include "kv.glsl"

layout(constant_id = 2) const uint kKType = kKvF32;
layout(constant_id = 3) const uint kVType = kKvF32;
layout(constant_id = 4) const uint kKDim = 64;
layout(constant_id = 5) const uint kVDim = 64;
layout(constant_id = 6) const uint kHeads = 1;
layout(push_constant) uniform Push {
  uint first_row, num_kv_heads, heads_per_kv, window;
  float scale, softcap;
  uint x_offset, x_stride, y_offset, y_stride;
  uint positions_offset, sequences_offset, table_offset, table_stride;  // words into the step
};
layout(std430, binding = 1) readonly buffer X { float x[]; };
layout(std430, binding = 2) readonly buffer K { uint k_pages[]; };
layout(std430, binding = 3) readonly buffer V { uint v_pages[]; };
layout(std430, binding = 4) writeonly buffer Y { float y[]; };

const uint kOutputs = (kVDim + kGroupSize - 1) / kGroupSize;  // columns of a head that a lane makes

shared float shared_q[kOneSubgroup != 0 ? 1 : kHeads * kKDim];

float v_value(uint at, uint c) {
  if (kVType == kKvF32) return uintBitsToFloat(v_pages[at + c]);
  if (kVType == kKvF16) {
    const vec2 pair = unpackHalf2x16(v_pages[at + c / 2]);
    return c % 2 == 0 ? pair.x : pair.y;
  }
  const uint block = at + c / 32 * 9;
  return unpackHalf2x16(v_pages[block]).x * float(bitfieldExtract(int(v_pages[block + 1 + c % 32 / 4]), int(c % 4 * 8), 8));
}

// The eight columns of k from `column`, a multiple of 8, on; 0 beyond the head.
void k_values(uint at, uint column, out float k[8]) {
  if (kKType == kKvF32) {
    [[unroll]] for (uint c = 0; c < 8; ++c) {
      k[c] = 0.0;
      if (column + c < kKDim) k[c] = uintBitsToFloat(k_pages[at + column + c]);
    }
  } else if (kKType == kKvF16) {
    [[unroll]] for (uint c = 0; c < 8; c += 2) {
      vec2 pair = vec2(0);
      if (column + c < kKDim) pair = unpackHalf2x16(k_pages[at + (column + c) / 2]);
      k[c] = pair.x;
      k[c + 1] = pair.y;
    }
  } else {
    const uint block = at + column / 32 * 9;
    const float d = unpackHalf2x16(k_pages[block]).x;
    [[unroll]] for (uint c = 0; c < 8; ++c)
      k[c] = d * float(bitfieldExtract(int(k_pages[block + 1 + column % 32 / 4 + c / 4]), int(c % 4 * 8), 8));
  }
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uint row = gl_WorkGroupID.y;
  if (first_row + row >= step_words[kHeaderTokens]) return;
  const uint first_head = gl_WorkGroupID.x * kHeads;
  const uint kv_head = first_head / heads_per_kv;
  const uint position = step_words[positions_offset + first_row + row];
  const uint table = table_offset + step_words[sequences_offset + first_row + row] * table_stride;
  const uint first = window == 0 || position + 1 <= window ? 0 : position + 1 - window;
  const uint k_words = kv_row_words(kKType, kKDim);
  const uint v_words = kv_row_words(kVType, kVDim);

  if (kOneSubgroup == 0) {
    for (uint i = lane; i < kHeads * kKDim; i += kGroupSize) shared_q[i] = x[x_offset + row * x_stride + first_head * kKDim + i];
    barrier();
  }

  precise float sums[kHeads * kOutputs];
  precise float totals[kHeads];
  float largest[kHeads];
  [[unroll]] for (uint i = 0; i < kHeads * kOutputs; ++i) sums[i] = 0.0;
  [[unroll]] for (uint h = 0; h < kHeads; ++h) {
    totals[h] = 0.0;
    largest[h] = minus_infinity();
  }

  for (uint chunk = first; chunk <= position; chunk += kGroupSize) {
    const uint here = min(kGroupSize, position + 1 - chunk);
    const uint own = min(chunk + lane, position);
    const uint slot = step_words[table + own / kPageTokens] * kPageTokens + own % kPageTokens;
    const uint k_at = (slot * num_kv_heads + kv_head) * k_words;
    precise vec2 dots[kHeads];
    [[unroll]] for (uint h = 0; h < kHeads; ++h) dots[h] = vec2(0);
    // Eight columns at a time, in a loop that stays one: the code of a whole head would take a driver seconds to compile.
    [[dont_unroll]] for (uint c0 = 0; c0 < kKDim; c0 += 8) {
      float k[8];
      k_values(k_at, c0, k);
      [[unroll]] for (uint h = 0; h < kHeads; ++h) {
        const uint column = c0 + lane % 8;
        const float own =
            kOneSubgroup != 0 && column < kKDim ? x[x_offset + row * x_stride + (first_head + h) * kKDim + column] : 0.0;
        [[unroll]] for (uint c = 0; c < 8; c += 2) {
          vec2 pair = vec2(0);
          if (kOneSubgroup != 0) {
            pair = vec2(subgroupBroadcast(own, c), subgroupBroadcast(own, c + 1));
          } else {
            if (c0 + c < kKDim) pair.x = shared_q[h * kKDim + c0 + c];
            if (c0 + c + 1 < kKDim) pair.y = shared_q[h * kKDim + c0 + c + 1];
          }
          dots[h] += vec2(k[c], k[c + 1]) * pair;
        }
      }
    }
    float weights[kHeads];
    [[unroll]] for (uint h = 0; h < kHeads; ++h) {
      float score = (dots[h].x + dots[h].y) * scale;
      if (softcap != 0.0) score = tanh_exact(score / softcap) * softcap;
      if (lane >= here) score = minus_infinity();
      const float top = max(largest[h], max_lanes(score));
      const float shrink = largest[h] == top ? 1.0 : exp(largest[h] - top);
      largest[h] = top;
      weights[h] = lane < here ? exp(score - top) : 0.0;
      totals[h] *= shrink;
      [[unroll]] for (uint i = 0; i < kOutputs; ++i) sums[h * kOutputs + i] *= shrink;
    }
    for (uint j = 0; j < here; ++j) {
      const uint p = chunk + j;
      const uint v_slot = step_words[table + p / kPageTokens] * kPageTokens + p % kPageTokens;
      const uint v_at = (v_slot * num_kv_heads + kv_head) * v_words;
      float weight[kHeads];
      [[unroll]] for (uint h = 0; h < kHeads; ++h) {
        weight[h] = from_lane(weights[h], j);
        totals[h] += weight[h];
      }
      [[unroll]] for (uint i = 0; i < kOutputs; ++i) {
        const uint c = i * kGroupSize + lane;
        const float value = c < kVDim ? v_value(v_at, c) : 0.0;
        [[unroll]] for (uint h = 0; h < kHeads; ++h) sums[h * kOutputs + i] += weight[h] * value;
      }
    }
  }
  [[unroll]] for (uint h = 0; h < kHeads; ++h) {
    [[unroll]] for (uint i = 0; i < kOutputs; ++i) {
      const uint c = i * kGroupSize + lane;
      if (c < kVDim) y[y_offset + row * y_stride + (first_head + h) * kVDim + c] = sums[h * kOutputs + i] / totals[h];
    }
  }
}
