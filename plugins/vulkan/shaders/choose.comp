#version 460
// TOP_K and MOE_ROUTE (sdk/reference/select.h, moe.h): one workgroup a row. The next choice is the largest value behind the last
// one; ties go to the lower column; NaN counts as below everything.
#include "common.glsl"

layout(constant_id = 2) const uint kRoute = 0;  // 1: MOE_ROUTE
layout(push_constant) uniform Push {
  uint domain, first_row, num_columns, num_chosen;
  uint x_offset, x_stride, ids_offset, ids_stride, values_offset, values_stride;
  uint normalize;
  float scale;
};
layout(std430, binding = 1) readonly buffer X { float x[]; };
layout(std430, binding = 4) buffer Values { float values[]; };
layout(std430, binding = 5) writeonly buffer Ids { int ids[]; };

shared uint keys[kGroupSize];
shared uint columns[kGroupSize];

// Rises with the value; equal for NaNs, which lie below all, and for the two zeros.
uint key_of(float value) {
  if (value != value) return 0;
  const uint bits = floatBitsToUint(value == 0.0 ? 0.0 : value);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uint row = gl_WorkGroupID.y;
  if (first_row + row >= step_words[domain]) return;
  const uint at = x_offset + row * x_stride;
  float largest = 0.0;
  precise float total = 1.0;
  if (kRoute != 0) {
    float own = minus_infinity();
    for (uint c = lane; c < num_columns; c += kGroupSize) own = max(own, x[at + c]);
    largest = max_lanes(own);
    precise float sum = 0.0;
    for (uint c = lane; c < num_columns; c += kGroupSize) sum += exp(x[at + c] - largest);
    total = sum_lanes(sum);
  }
  uint last_key = 0xFFFFFFFFu;
  uint last_column = 0xFFFFFFFFu;  // of nothing: every column follows it
  precise float chosen_total = 0.0;
  for (uint j = 0; j < num_chosen; ++j) {
    uint best_key = 0;
    uint best_column = 0xFFFFFFFFu;
    for (uint c = lane; c < num_columns; c += kGroupSize) {
      const uint key = key_of(x[at + c]);
      const bool follows = key < last_key || (key == last_key && last_column != 0xFFFFFFFFu && c > last_column);
      if (follows && (best_column == 0xFFFFFFFFu || key > best_key)) {
        best_key = key;
        best_column = c;
      }
    }
    barrier();
    keys[lane] = best_key;
    columns[lane] = best_column;
    barrier();
    for (uint i = 0; i < kGroupSize; ++i) {
      if (columns[i] == 0xFFFFFFFFu) continue;
      if (best_column == 0xFFFFFFFFu || keys[i] > best_key || (keys[i] == best_key && columns[i] < best_column)) {
        best_key = keys[i];
        best_column = columns[i];
      }
    }
    last_key = best_key;
    last_column = best_column;
    const float value = kRoute != 0 ? exp(x[at + best_column] - largest) / total : x[at + best_column];
    chosen_total += value;
    if (lane != 0) continue;
    ids[ids_offset + row * ids_stride + j] = int(best_column);
    values[values_offset + row * values_stride + j] = value;
  }
  if (kRoute == 0 || lane != 0) return;
  for (uint j = 0; j < num_chosen; ++j) {
    const uint place = values_offset + row * values_stride + j;
    values[place] = (normalize != 0 ? values[place] / chosen_total : values[place]) * scale;
  }
}
