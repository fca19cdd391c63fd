#include "moe.h"

#include <algorithm>
#include <cmath>

#include "dequantize.h"
#include "dot.h"
#include "select.h"

namespace gainz::reference {

void moe_route(const float* x, uint64_t num_experts, const gainz_moe_route_attr& attr, int32_t* ids, float* weights,
               float* room) {
  float largest = -INFINITY;
  for (uint64_t e = 0; e < num_experts; ++e) largest = std::max(largest, x[e]);
  float total = 0.0f;
  for (uint64_t e = 0; e < num_experts; ++e) {
    room[e] = static_cast<float>(std::exp(static_cast<double>(x[e] - largest)));
    total += room[e];
  }
  for (uint64_t e = 0; e < num_experts; ++e) room[e] /= total;
  top_k(room, num_experts, attr.num_chosen, weights, ids);
  if (attr.normalize != 0) {
    float chosen = 0.0f;
    for (uint32_t j = 0; j < attr.num_chosen; ++j) chosen += weights[j];
    for (uint32_t j = 0; j < attr.num_chosen; ++j) weights[j] /= chosen;
  }
  const float scale = attr.scale == 0.0f ? 1.0f : attr.scale;
  for (uint32_t j = 0; j < attr.num_chosen; ++j) weights[j] *= scale;
}

uint64_t moe_linear_room(uint64_t num_tokens, uint64_t num_chosen, uint64_t k) { return k + num_tokens * num_chosen; }

void moe_linear(const MoeLinear& m, uint64_t begin, uint64_t end, float* room) {
  const uint64_t bytes = row_bytes(m.type, m.k);
  const auto* rows = static_cast<const uint8_t*>(m.w);
  const uint64_t num_choices = m.num_tokens * m.num_chosen;
  float* row = room;            // [k]
  float* results = room + m.k;  // [num_choices]
  for (uint64_t n = begin; n < end; ++n) {
    for (uint64_t e = 0; e < m.num_experts; ++e) {
      bool ready = false;
      for (uint64_t choice = 0; choice < num_choices; ++choice) {
        if (static_cast<uint64_t>(m.ids[choice]) != e) continue;
        if (!ready) dequantize_row(m.type, rows + (e * m.n + n) * bytes, row, m.k);
        ready = true;
        const uint64_t x_row = m.x_per_choice ? choice : choice / m.num_chosen;
        results[choice] = dot(row, m.x + x_row * m.k, m.k);
      }
    }
    for (uint64_t choice = 0; choice < num_choices && m.weights == nullptr; ++choice) m.out[choice * m.n + n] = results[choice];
    for (uint64_t t = 0; t < m.num_tokens && m.weights != nullptr; ++t) {
      float total = 0.0f;
      for (uint64_t j = 0; j < m.num_chosen; ++j) total += m.weights[t * m.num_chosen + j] * results[t * m.num_chosen + j];
      m.out[t * m.n + n] = total;
    }
  }
}

}  // namespace gainz::reference
