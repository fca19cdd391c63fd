#version 460
// LINEAR and MOE_LINEAR: rows of x times packed weight rows, f32 sums. One invocation makes kRows weight rows for kTokens rows
// of x; kSplit neighbours share a weight row, block by block, and are joined from the first to the last. The order of a sum
// depends on K and kSplit alone: how many rows of x are taken at once changes no bit.
//
// Epilogues: + bias, + residual, and with kGated activation(row n) * row (n + N): gate and up of one feed-forward.
#include "common.glsl"
#include "math.glsl"
#include "weights.glsl"

layout(constant_id = 4) const uint kTokens = 1;
layout(constant_id = 5) const uint kRows = 1;   // 2 with kGated
layout(constant_id = 6) const uint kSplit = 1;  // divides kGroupSize
layout(constant_id = 7) const uint kGated = 0;  // 0, or the activation's kind
layout(constant_id = 8) const uint kMoe = 0;    // 1: a row of y is one choice of an expert; kTokens is 1

layout(push_constant) uniform Push {
  uint domain;  // header word that counts the rows
  uint first_row, part_rows;  // rows that the bindings show
  uint tiles_above;           // rows in whole tiles of this size are another dispatch's; 0: there is none
  uint num_blocks, num_columns;
  uint row_words, row_scale_words;  // of a weight row
  uint num_outputs;                 // columns of y that this dispatch makes
  uint x_offset, x_stride, y_offset, y_stride;
  uint bias, bias_offset, bias_step;  // 1: there is one; from gate to up
  uint residual, residual_offset, residual_stride;
  // MoE: experts [first_expert, first_expert + num_experts) lie in the bindings
  uint first_expert, num_experts, rows_per_expert, num_chosen, x_per_choice, ids_offset, ids_stride;
};
layout(std430, binding = 1) readonly buffer X { float x[]; };
layout(std430, binding = 4) buffer Y { float y[]; };
layout(std430, binding = 5) readonly buffer Residual { float residuals[]; };
layout(std430, binding = 6) readonly buffer Bias { float biases[]; };
layout(std430, binding = 7) readonly buffer Ids { int ids[]; };

// Columns that a lane holds of a block where the lanes of a subgroup share the block's 32 columns of x.
const uint kLoads = kOneSubgroup != 0 && kSplit == 1 && kGroupSize <= 32 ? 32 / kGroupSize : 1;
const bool kPassed = kOneSubgroup != 0 && kSplit == 1 && kGroupSize <= 32;

shared float parts[kSplit > 1 ? kGroupSize : 1];

float join(float value, uint lane) {
  if (kSplit == 1) return value;
  barrier();
  parts[lane] = value;
  barrier();
  precise float total = 0.0;
  const uint first = lane - lane % kSplit;
  for (uint i = 0; i < kSplit; ++i) total += parts[first + i];
  return total;
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uint per_group = kGroupSize / kSplit;
  const uint part = lane % kSplit;
  const uint row_step = kGated != 0 ? num_outputs : per_group;
  const uint n0 = gl_WorkGroupID.x * per_group * (kGated != 0 ? 1 : kRows) + lane / kSplit;
  const uint last_row = (kGated != 0 ? 2 : 1) * num_outputs - 1;
  const uint num_all = step_words[domain];
  if (num_all <= first_row) return;
  uint num_here = min(num_all - first_row, part_rows) * (kMoe != 0 ? num_chosen : 1);
  const uint t0 = gl_WorkGroupID.y * kTokens + (tiles_above != 0 ? num_here / tiles_above * tiles_above : 0);
  if (t0 >= num_here) return;
  num_here -= t0;

  uint expert = 0;
  if (kMoe != 0) {
    const int id = ids[ids_offset + t0 / num_chosen * ids_stride + t0 % num_chosen];
    if (uint(id) < first_expert || uint(id) - first_expert >= num_experts) return;  // another dispatch has it
    expert = uint(id) - first_expert;
  }

  uint quants[kRows];
  uint scales[kRows];
  [[unroll]] for (uint r = 0; r < kRows; ++r) {
    const uint n = min(n0 + r * row_step, last_row) + expert * rows_per_expert;  // beyond the end: computed, not stored
    quants[r] = n * row_words;
    scales[r] = n * row_scale_words;
  }
  uint x_at[kTokens];
  [[unroll]] for (uint t = 0; t < kTokens; ++t) x_at[t] = x_offset + (t0 + min(t, num_here - 1)) * x_stride;
  if (kMoe != 0) x_at[0] = x_offset + t0 / num_chosen * x_stride + (x_per_choice != 0 ? t0 % num_chosen * num_columns : 0);

  precise vec2 sums[kRows * kTokens];
  [[unroll]] for (uint i = 0; i < kRows * kTokens; ++i) sums[i] = vec2(0);

  for (uint block = part; block < num_blocks; block += kSplit) {
    BlockScale scale[kRows];
    [[unroll]] for (uint r = 0; r < kRows; ++r) scale[r] = block_scale(scales[r], block);
    [[dont_unroll]] for (uint j = 0; j < 4; ++j) {  // compiled once, not four times
      float w[kRows][8];
      [[unroll]] for (uint r = 0; r < kRows; ++r) decode8(quants[r], num_blocks, block, j, scale[r], w[r]);
      const uint column = block * 32 + j * 8;
      [[unroll]] for (uint t = 0; t < kTokens; ++t) {
        if (kPassed) {
          const uint k = column / kGroupSize * kGroupSize + lane;
          const float own = k < num_columns ? x[x_at[t] + k] : 0.0;
          [[unroll]] for (uint i = 0; i < 8; i += 2) {
            const vec2 pair = vec2(subgroupBroadcast(own, (j * 8 + i) % kGroupSize), subgroupBroadcast(own, (j * 8 + i + 1) % kGroupSize));
            [[unroll]] for (uint r = 0; r < kRows; ++r) sums[r * kTokens + t] += vec2(w[r][i], w[r][i + 1]) * pair;
          }
        } else {
          [[unroll]] for (uint i = 0; i < 8; i += 2) {
            vec2 pair = vec2(0);
            if (column + i < num_columns) pair.x = x[x_at[t] + column + i];
            if (column + i + 1 < num_columns) pair.y = x[x_at[t] + column + i + 1];
            [[unroll]] for (uint r = 0; r < kRows; ++r) sums[r * kTokens + t] += vec2(w[r][i], w[r][i + 1]) * pair;
          }
        }
      }
    }
  }

  [[unroll]] for (uint t = 0; t < kTokens; ++t) {
    float values[kRows];
    [[unroll]] for (uint r = 0; r < kRows; ++r) {
      const uint n = n0 + r * row_step;
      const precise vec2 pair = sums[r * kTokens + t];
      values[r] = join(pair.x + pair.y, lane);
      if (bias != 0) values[r] += biases[bias_offset + (kGated != 0 ? min(n0, num_outputs - 1) + r * bias_step : min(n, last_row))];
    }
    if (part != 0 || t >= num_here) continue;
    uint y_at = y_offset + (t0 + t) * y_stride;
    if (kMoe != 0) y_at = y_offset + t0 / num_chosen * y_stride + t0 % num_chosen * num_outputs;
    if (kGated != 0) {
      if (n0 < num_outputs) y[y_at + n0] = activate(kGated, values[0]) * values[kRows - 1];
      continue;
    }
    [[unroll]] for (uint r = 0; r < kRows; ++r) {
      const uint n = n0 + r * row_step;
      if (n >= num_outputs) continue;
      float value = values[r];
      if (residual != 0) value += residuals[residual_offset + (t0 + t) * residual_stride + n];
      y[y_at + n] = value;
    }
  }
}
