#include "kv.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dequantize.h"
#include "gainz/sdk/types.h"
#include "half.h"

namespace gainz::reference {

KvLayer kv_layer(void* pages, const gainz_page_group& group, uint32_t k_type, uint32_t v_type, uint32_t layer) {
  KvLayer view;
  view.pages = static_cast<uint8_t*>(pages);
  view.page_bytes = gainz_page_bytes(&group, k_type, v_type);
  view.k_type = k_type;
  view.v_type = v_type;
  view.k_head_bytes = gainz_kv_row_bytes(k_type, group.k_head_dim);
  view.v_head_bytes = gainz_kv_row_bytes(v_type, group.v_head_dim);
  const uint64_t rows = uint64_t{GAINZ_PAGE_TOKENS} * group.num_kv_heads;
  view.k_offset = layer * rows * (view.k_head_bytes + view.v_head_bytes);
  view.v_offset = view.k_offset + rows * view.k_head_bytes;
  view.num_kv_heads = group.num_kv_heads;
  view.k_head_dim = group.k_head_dim;
  view.v_head_dim = group.v_head_dim;
  return view;
}

static void encode_q8_0(const float* x, uint8_t* out, uint64_t n) {
  for (uint64_t b = 0; b < n / 32; ++b, x += 32, out += 34) {
    float largest = 0.0f;
    for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(x[i]));
    const float d = largest / 127.0f;
    const float inverse = d == 0.0f ? 0.0f : 1.0f / d;
    const uint16_t stored = f32_to_f16(d);
    std::memcpy(out, &stored, sizeof stored);
    for (int i = 0; i < 32; ++i) {
      const float q = x[i] * inverse;
      const float held = q != q ? 0.0f : std::clamp(q, -127.0f, 127.0f);
      out[2 + i] = static_cast<uint8_t>(static_cast<int8_t>(std::round(held)));
    }
  }
}

void kv_encode(uint32_t type, const float* x, uint8_t* out, uint64_t n) {
  if (type == GAINZ_TYPE_F32) {
    std::memcpy(out, x, n * sizeof(float));
  } else if (type == GAINZ_TYPE_Q8_0) {
    encode_q8_0(x, out, n);
  } else {
    for (uint64_t i = 0; i < n; ++i) {
      const uint16_t half = type == GAINZ_TYPE_F16 ? f32_to_f16(x[i]) : f32_to_bf16(x[i]);
      std::memcpy(out + 2 * i, &half, sizeof half);
    }
  }
}

void kv_decode(uint32_t type, const uint8_t* in, float* out, uint64_t n) { dequantize_row(type, in, out, n); }

void kv_write(const float* k, const float* v, const uint32_t* slots, uint64_t num_tokens, const KvLayer& layer) {
  for (uint64_t t = 0; t < num_tokens; ++t) {
    const uint64_t page = slots[t] / GAINZ_PAGE_TOKENS;
    const uint64_t place = slots[t] % GAINZ_PAGE_TOKENS;
    for (uint64_t h = 0; h < layer.num_kv_heads; ++h, k += layer.k_head_dim, v += layer.v_head_dim) {
      kv_encode(layer.k_type, k, layer.k_row(page, place, h), layer.k_head_dim);
      kv_encode(layer.v_type, v, layer.v_row(page, place, h), layer.v_head_dim);
    }
  }
}

}  // namespace gainz::reference
