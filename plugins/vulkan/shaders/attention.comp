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
const uint kQueries = (kKDim + kGroupSize - 1) / kGroupSize;  // columns of q that a lane holds

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

// The four columns of k from 4 i on; beyond the head they are not used.
void k_values(uint at, uint i, out float k[4]) {
  if (kKType == kKvF32) {
    [[unroll]] for (uint c = 0; c < 4; ++c) k[c] = i * 4 + c < kKDim ? uintBitsToFloat(k_pages[at + i * 4 + c]) : 0.0;
  } else if (kKType == kKvF16) {
    const vec2 low = unpackHalf2x16(k_pages[at + i * 2]);
    const vec2 high = i * 4 + 2 < kKDim ? unpackHalf2x16(k_pages[at + i * 2 + 1]) : vec2(0);
    k[0] = low.x;
    k[1] = low.y;
    k[2] = high.x;
    k[3] = high.y;
  } else {
    const uint block = at + i / 8 * 9;
    const float d = unpackHalf2x16(k_pages[block]).x;
    const int word = int(k_pages[block + 1 + i % 8]);
    [[unroll]] for (uint c = 0; c < 4; ++c) k[c] = d * float(bitfieldExtract(word, int(8 * c), 8));
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

  float q[kHeads * kQueries];
  [[unroll]] for (uint h = 0; h < kHeads; ++h) {
    const uint at = x_offset + row * x_stride + (first_head + h) * kKDim;
    [[unroll]] for (uint i = 0; i < kQueries; ++i) {
      const uint c = i * kGroupSize + lane;
      q[h * kQueries + i] = c < kKDim ? x[at + c] : 0.0;
      if (kOneSubgroup == 0 && c < kKDim) shared_q[h * kKDim + c] = q[h * kQueries + i];
    }
  }
  if (kOneSubgroup == 0) barrier();

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
    [[unroll]] for (uint i = 0; i < (kKDim + 3) / 4; ++i) {
      float k[4];
      k_values(k_at, i, k);
      [[unroll]] for (uint h = 0; h < kHeads; ++h) {
        [[unroll]] for (uint c = 0; c < 4; c += 2) {
          const uint column = i * 4 + c;
          if (column >= kKDim) continue;
          vec2 pair;
          if (kOneSubgroup != 0) {
            pair.x = subgroupBroadcast(q[h * kQueries + column / kGroupSize], column % kGroupSize);
            pair.y = column + 1 < kKDim ? subgroupBroadcast(q[h * kQueries + (column + 1) / kGroupSize], (column + 1) % kGroupSize) : 0.0;
          } else {
            pair.x = shared_q[h * kKDim + column];
            pair.y = column + 1 < kKDim ? shared_q[h * kKDim + column + 1] : 0.0;
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
