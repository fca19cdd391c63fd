// kv.h: rows of K and V in pages of the canonical layout (gainz/sdk/kv.h) and KV_WRITE. Pure functions, any thread; callers
// that write different slots at once do not meet.
//
// Rows in each KV type: F32 as it is; F16, BF16 rounded to nearest even (half.h); Q8_0 in blocks of 32: d = max|x| / 127 in
// f32, q = x * (1 / d) rounded half away from zero, held in [-127, 127], NaN as 0; d is stored as f16; the value read back is
// f16(d) * q.
#ifndef GAINZ_SDK_REFERENCE_KV_H
#define GAINZ_SDK_REFERENCE_KV_H

#include <cstdint>

#include "gainz/sdk/kv.h"

namespace gainz::reference {

// One layer of one page group. A row of K is [num_kv_heads, k_head_dim].
struct KvLayer {
  uint8_t* pages = nullptr;  // page 0 of the group
  uint64_t page_bytes = 0;   // from page to page
  uint64_t k_offset = 0;     // of this layer's K and V within a page
  uint64_t v_offset = 0;
  uint32_t k_type = 0;
  uint32_t v_type = 0;
  uint64_t k_head_bytes = 0;  // of one head's row
  uint64_t v_head_bytes = 0;
  uint32_t num_kv_heads = 0;
  uint32_t k_head_dim = 0;
  uint32_t v_head_dim = 0;

  // The row of head `head` at `place` (0 to 15) of `page`.
  uint8_t* k_row(uint64_t page, uint64_t place, uint64_t head) const {
    return pages + page * page_bytes + k_offset + (place * num_kv_heads + head) * k_head_bytes;
  }
  uint8_t* v_row(uint64_t page, uint64_t place, uint64_t head) const {
    return pages + page * page_bytes + v_offset + (place * num_kv_heads + head) * v_head_bytes;
  }
};

// The view of layer `layer` of a group whose pages lie at `pages` in the canonical layout.
KvLayer kv_layer(void* pages, const gainz_page_group& group, uint32_t k_type, uint32_t v_type, uint32_t layer);

// One head's row of n values in and out of a KV type: F32, F16, BF16, Q8_0 (n a multiple of 32).
void kv_encode(uint32_t type, const float* x, uint8_t* out, uint64_t n);
void kv_decode(uint32_t type, const uint8_t* in, float* out, uint64_t n);

// Stores k[num_tokens, Hkv * Dk] and v[num_tokens, Hkv * Dv] at slots[num_tokens].
void kv_write(const float* k, const float* v, const uint32_t* slots, uint64_t num_tokens, const KvLayer& layer);

}  // namespace gainz::reference

#endif
