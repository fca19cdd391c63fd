/* kv.h: page storage. The runtime owns page numbers and tables, the plugin owns the bytes and their layout.
 *
 * A page holds GAINZ_PAGE_TOKENS tokens of every layer of its group. Page 0 of each group is scratch: padding is written there
 * and nothing reads it for a result. Slot = page * GAINZ_PAGE_TOKENS + place in the page.
 *
 * kv_create [device-thread]: allocates every page of every group. Errors: OUT_OF_*_MEMORY naming needed and available,
 * UNSUPPORTED types. kv_copy_pages [device-thread]: for copy-on-write; queued in order with run; a page is not both source and
 * target of one call. kv_export_page, kv_import_page [device-thread]: one page in the canonical layout, waiting for the queue.
 * `num_bytes` must be exactly gainz_page_bytes(). For snapshots, tiers and moving a conversation to another device.
 *
 * Canonical layout of a page: for each layer of the group K then V; each [GAINZ_PAGE_TOKENS, num_kv_heads, head_dim] in its
 * type, keys after rope, heads packed one after another. Types: F32, F16, BF16, Q8_0 (head_dim a multiple of 32). */
#ifndef GAINZ_SDK_KV_H
#define GAINZ_SDK_KV_H

#include "gainz/sdk/graph.h"
#include "gainz/sdk/status.h"

GAINZ_SDK_BEGIN

#define GAINZ_PAGE_TOKENS 16u
#define GAINZ_SCRATCH_PAGE 0u

typedef struct gainz_kv gainz_kv;

typedef struct gainz_kv_desc {
  uint32_t struct_size;
  uint32_t k_type; /* GAINZ_TYPE_* */
  uint32_t v_type;
  uint32_t num_groups;
  const uint32_t* num_pages; /* [num_groups], the scratch page included */
} gainz_kv_desc;

typedef struct gainz_page_copy {
  uint32_t source;
  uint32_t target;
} gainz_page_copy;

/* Bytes of one token's row of one head-side matrix in a KV type; 0 for a type or size that KV pages do not have. */
static inline uint64_t gainz_kv_row_bytes(uint32_t type, uint64_t head_dim) {
  switch (type) {
    case GAINZ_TYPE_F32:
      return head_dim * 4;
    case GAINZ_TYPE_F16:
    case GAINZ_TYPE_BF16:
      return head_dim * 2;
    case GAINZ_TYPE_Q8_0:
      return head_dim % 32 == 0 ? head_dim / 32 * 34 : 0;
    default:
      return 0;
  }
}

/* Bytes of one page of `group` in the canonical layout. */
static inline uint64_t gainz_page_bytes(const gainz_page_group* group, uint32_t k_type, uint32_t v_type) {
  return (uint64_t)group->num_layers * GAINZ_PAGE_TOKENS * group->num_kv_heads *
         (gainz_kv_row_bytes(k_type, group->k_head_dim) + gainz_kv_row_bytes(v_type, group->v_head_dim));
}

GAINZ_SDK_END

#endif
