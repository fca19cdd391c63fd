// What every shader shares: the workgroup, the step's header, sums over a workgroup in a fixed order, f16 rounding.
//
// Binding 0 is the step: its header, then the arrays at the word offsets that a push constant gives. Activations are f32 rows;
// an operand is (offset, stride) in words within its binding.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_ballot : require

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kGroupSize = 8;  // invocations of a workgroup
// 1: a workgroup is one whole subgroup, and values pass between its lanes without shared memory.
layout(constant_id = 1) const uint kOneSubgroup = 0;

layout(std430, binding = 0) readonly buffer Step { uint step_words[]; };

// Words of the step's header.
const uint kHeaderTokens = 0;
const uint kHeaderOutputRows = 1;
const uint kHeaderHasMasks = 2;

float minus_infinity() { return uintBitsToFloat(0xFF800000u); }

shared float shared_floats[kGroupSize];

// The value of lane `lane` (the same in all lanes). Every lane of the workgroup calls it.
float from_lane(float value, uint lane) {
  if (kOneSubgroup != 0) return subgroupBroadcast(value, lane);
  barrier();
  shared_floats[gl_LocalInvocationID.x] = value;
  barrier();
  return shared_floats[lane];
}

// The sum of all lanes, taken from the first lane to the last.
float sum_lanes(float value) {
  precise float total = 0.0;
  if (kOneSubgroup != 0) {
    [[unroll]] for (uint lane = 0; lane < kGroupSize; ++lane) total += subgroupBroadcast(value, lane);
    return total;
  }
  barrier();
  shared_floats[gl_LocalInvocationID.x] = value;
  barrier();
  for (uint lane = 0; lane < kGroupSize; ++lane) total += shared_floats[lane];
  return total;
}

float max_lanes(float value) {
  float largest = value;
  if (kOneSubgroup != 0) {
    [[unroll]] for (uint lane = 0; lane < kGroupSize; ++lane) largest = max(largest, subgroupBroadcast(value, lane));
    return largest;
  }
  barrier();
  shared_floats[gl_LocalInvocationID.x] = value;
  barrier();
  for (uint lane = 0; lane < kGroupSize; ++lane) largest = max(largest, shared_floats[lane]);
  return largest;
}

// f32 to f16 bits, to nearest, ties to even, in integers: what packHalf2x16 rounds to is the driver's own choice.
uint to_f16(float value) {
  const uint bits = floatBitsToUint(value);
  const uint sign = (bits >> 16) & 0x8000u;
  const uint magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u | ((magnitude >> 13) & 0x1FFu);
  if (magnitude >= 0x477FF000u) return sign | 0x7C00u;  // 65520 and above round to infinity
  if (magnitude >= 0x38800000u) {
    const uint rebased = magnitude - (112u << 23);
    return sign | ((rebased + 0xFFFu + ((rebased >> 13) & 1u)) >> 13);
  }
  if (magnitude < 0x33000000u) return sign;  // below half of the smallest subnormal
  const uint shift = 126u - (magnitude >> 23);  // 14 to 24: the mantissa in units of 2^-24
  const uint mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
  const uint kept = mantissa >> shift;
  const uint rest = mantissa & ((1u << shift) - 1u);
  const uint half_unit = 1u << (shift - 1u);
  return sign | (kept + ((rest > half_unit || (rest == half_unit && (kept & 1u) != 0)) ? 1u : 0u));
}
