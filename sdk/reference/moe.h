// moe.h: MOE_ROUTE and MOE_LINEAR (Shazeer et al. 2017; Fedus et al. 2021). Pure functions, any thread.
#ifndef GAINZ_SDK_REFERENCE_MOE_H
#define GAINZ_SDK_REFERENCE_MOE_H

#include <cstdint>

#include "gainz/sdk/ops.h"

namespace gainz::reference {

// x[num_experts] router logits of one token; ids[k], weights[k], best first, ties to the lower id; `room` for num_experts
// floats.
//   p = e^(x - largest) in double, rounded to f32, divided by their sum in rising order (f32); the k largest p; with normalize
//   divided by their own sum, best first; times scale (0 reads as 1).
void moe_route(const float* x, uint64_t num_experts, const gainz_moe_route_attr& attr, int32_t* ids, float* weights,
               float* room);

struct MoeLinear {
  const float* x;        // [num_tokens, k] or, with rows_per_token, [num_tokens, num_chosen * k]
  const int32_t* ids;    // [num_tokens, num_chosen], each in [0, num_experts)
  const float* weights;  // [num_tokens, num_chosen] or nullptr
  uint32_t type;         // of w
  const void* w;         // [num_experts, n, k]
  float* out;            // [num_tokens, num_chosen * n], with weights [num_tokens, n]
  uint64_t num_tokens, num_chosen, num_experts, k, n;
  bool x_per_choice;
};

// Room for moe_linear in floats.
uint64_t moe_linear_room(uint64_t num_tokens, uint64_t num_chosen, uint64_t k);

// Columns [begin, end) of every expert's output. Each is dot (dot.h) with the dequantized row; with weights, their products
// with it are summed in the order of the choices, in f32. Splitting [0, n) among threads changes no bit.
void moe_linear(const MoeLinear& m, uint64_t begin, uint64_t end, float* room);

}  // namespace gainz::reference

#endif
