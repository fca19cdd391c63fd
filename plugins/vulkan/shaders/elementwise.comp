#version 460
// Ops that make column c of row r from column c of a row or two: ADD, MUL, SCALE, SOFTCAP, ACTIVATION, GATED_ACTIVATION,
// GATHER_ROWS, LOGIT_MASK, and the weighted sum behind a MOE_LINEAR.
#include "common.glsl"
#include "math.glsl"

const uint kAdd = 0, kMul = 1, kMulRow = 2, kScale = 3, kSoftcap = 4, kActivation = 5, kGatedActivation = 6, kGather = 7;
const uint kMask = 8, kMoeSum = 9;
layout(constant_id = 2) const uint kOp = kAdd;
layout(constant_id = 3) const uint kKind = 0;  // of an activation

layout(push_constant) uniform Push {
  uint domain, first_row, num_columns;
  uint x_offset, x_stride, y_offset, y_stride, z_offset, z_stride;
  float factor;                    // SCALE, SOFTCAP
  uint step_offset, step_stride;   // words into the step: rows to gather, mask bits
  uint num_chosen;                 // MoE: x holds num_chosen runs of num_columns, z their weights
};
layout(std430, binding = 1) readonly buffer X { float x[]; };
layout(std430, binding = 4) buffer Y { float y[]; };
layout(std430, binding = 5) readonly buffer Z { float z[]; };

void main() {
  const uint row = gl_WorkGroupID.y;
  if (first_row + row >= step_words[domain]) return;
  uint x_at = x_offset + row * x_stride;
  if (kOp == kGather) x_at = x_offset + step_words[step_offset + first_row + row] * x_stride;
  const uint y_at = y_offset + row * y_stride;
  const uint z_at = z_offset + (kOp == kMulRow ? 0 : row * z_stride);
  for (uint c = gl_GlobalInvocationID.x; c < num_columns; c += gl_NumWorkGroups.x * kGroupSize) {
    float value = x[x_at + c];
    switch (kOp) {
      case kAdd:
        value += z[z_at + c];
        break;
      case kMul:
      case kMulRow:
        value *= z[z_at + c];
        break;
      case kScale:
        value *= factor;
        break;
      case kSoftcap:
        value = tanh_exact(value / factor) * factor;
        break;
      case kActivation:
        value = activate(kKind, value);
        break;
      case kGatedActivation:
        value = activate(kKind, value) * z[z_at + c];
        break;
      case kMask:
        if (step_words[kHeaderHasMasks] != 0 &&
            ((step_words[step_offset + (first_row + row) * step_stride + c / 32] >> (c % 32)) & 1u) == 0)
          value = minus_infinity();
        break;
      case kMoeSum: {
        precise float total = 0.0;
        for (uint j = 0; j < num_chosen; ++j) total += z[z_at + j] * x[x_at + j * num_columns + c];
        value = total;
        break;
      }
    }
    y[y_at + c] = value;
  }
}
