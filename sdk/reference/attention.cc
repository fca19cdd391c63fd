#include "attention.h"

#include <algorithm>
#include <cmath>

#include "dot.h"
#include "elementwise.h"
#include "gainz/sdk/types.h"

namespace gainz::reference {

uint64_t attention_room(const gainz_attention_attr& attr, uint64_t max_context) {
  const uint64_t seen = attr.window == 0 ? max_context : std::min<uint64_t>(max_context, attr.window);
  return seen + std::max(attr.k_head_dim, attr.v_head_dim);
}

// The row as f32: in place where it is stored so (every row is then a multiple of four bytes from an aligned start), else
// decoded.
static const float* row_f32(uint32_t type, const uint8_t* row, uint64_t n, float* room) {
  if (type == GAINZ_TYPE_F32 && reinterpret_cast<uintptr_t>(row) % alignof(float) == 0)
    return reinterpret_cast<const float*>(row);
  kv_decode(type, row, room, n);
  return room;
}

void attention_head(const float* q, uint64_t head, uint64_t position, const uint32_t* page_row, const KvLayer& layer,
                    const gainz_attention_attr& attr, float* out, float* room) {
  const uint64_t kv_head = head / (attr.num_heads / attr.num_kv_heads);
  const uint64_t first = attr.window == 0 || position + 1 <= attr.window ? 0 : position + 1 - attr.window;
  const uint64_t num_seen = position + 1 - first;
  float* weights = room;
  float* row = room + num_seen;

  float largest = -INFINITY;
  for (uint64_t i = 0; i < num_seen; ++i) {
    const uint64_t p = first + i;
    const uint8_t* k = layer.k_row(page_row[p / GAINZ_PAGE_TOKENS], p % GAINZ_PAGE_TOKENS, kv_head);
    float score = dot(q, row_f32(layer.k_type, k, attr.k_head_dim, row), attr.k_head_dim) * attr.scale;
    if (attr.softcap != 0.0f) score = softcap_value(score, attr.softcap);
    weights[i] = score;
    largest = std::max(largest, score);
  }
  float total = 0.0f;
  for (uint64_t i = 0; i < num_seen; ++i) {
    weights[i] = static_cast<float>(std::exp(static_cast<double>(weights[i] - largest)));
    total += weights[i];
  }
  std::fill_n(out, attr.v_head_dim, 0.0f);
  for (uint64_t i = 0; i < num_seen; ++i) {
    const uint64_t p = first + i;
    const uint8_t* v = layer.v_row(page_row[p / GAINZ_PAGE_TOKENS], p % GAINZ_PAGE_TOKENS, kv_head);
    add_scaled(weights[i], row_f32(layer.v_type, v, attr.v_head_dim, row), out, attr.v_head_dim);
  }
  for (uint64_t c = 0; c < attr.v_head_dim; ++c) out[c] /= total;
}

}  // namespace gainz::reference
