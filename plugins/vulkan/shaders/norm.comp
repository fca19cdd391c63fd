#version 460
// RMSNORM and LAYERNORM: one workgroup for each run of `dim` columns (sdk/reference/norm.h). A lane sums its own columns, then
// the lanes are joined in order.
#include "common.glsl"

layout(constant_id = 2) const uint kLayer = 0;  // 1: LAYERNORM
layout(push_constant) uniform Push {
  uint domain, first_row, dim;
  float epsilon;
  uint x_offset, x_stride, y_offset, y_stride;
  uint weight, weight_offset, bias, bias_offset;  // 1: there is one
  uint residual, residual_offset, residual_stride;  // added behind the norm
};
layout(std430, binding = 1) readonly buffer X { float x[]; };
layout(std430, binding = 2) readonly buffer W { float w[]; };
layout(std430, binding = 3) readonly buffer B { float b[]; };
layout(std430, binding = 4) buffer Y { float y[]; };
layout(std430, binding = 5) readonly buffer Residual { float residuals[]; };

void main() {
  const uint row = gl_WorkGroupID.y;
  if (first_row + row >= step_words[domain]) return;
  const uint run = gl_WorkGroupID.x * dim;
  const uint at = x_offset + row * x_stride + run;
  precise float mean = 0.0;
  if (kLayer != 0) {
    precise float sum = 0.0;
    for (uint k = gl_LocalInvocationID.x; k < dim; k += kGroupSize) sum += x[at + k];
    mean = sum_lanes(sum) / float(dim);
  }
  precise float squares = 0.0;
  for (uint k = gl_LocalInvocationID.x; k < dim; k += kGroupSize) {
    const precise float deviation = kLayer != 0 ? x[at + k] - mean : x[at + k];
    squares += deviation * deviation;
  }
  const float factor = 1.0 / sqrt(sum_lanes(squares) / float(dim) + epsilon);
  for (uint k = gl_LocalInvocationID.x; k < dim; k += kGroupSize) {
    float value = (kLayer != 0 ? x[at + k] - mean : x[at + k]) * factor;
    if (weight != 0) value *= w[weight_offset + k];
    if (bias != 0) value += b[bias_offset + k];
    if (residual != 0) value += residuals[residual_offset + row * residual_stride + run + k];
    y[y_offset + row * y_stride + run + k] = value;
  }
}
