/* ext_zeroed.h: a host extension: memory that is zero without anybody having written it.
 *
 * gainz_host.get_extension(ctx, GAINZ_EXT_ZEROED, GAINZ_EXT_ZEROED_REVISION) gives a gainz_zeroed, or NULL; a plugin then
 * clears what it has from gainz_host.allocate. Large blocks come from the system untouched, so that pages of a KV cache that
 * are never used cost neither time nor memory. */
#ifndef GAINZ_SDK_EXT_ZEROED_H
#define GAINZ_SDK_EXT_ZEROED_H

#include "gainz/sdk/status.h"

GAINZ_SDK_BEGIN

#define GAINZ_EXT_ZEROED "gainz.zeroed"
#define GAINZ_EXT_ZEROED_REVISION 1u

/* Owner: the host; valid as long as its gainz_host. */
typedef struct gainz_zeroed {
  uint32_t struct_size;
  uint32_t reserved;
  void* ctx;

  /* As gainz_host.allocate, with every byte zero; gainz_host.release takes it back. [any-thread] */
  void* (*allocate)(void* ctx, uint64_t size_bytes, uint64_t alignment);
} gainz_zeroed;

GAINZ_SDK_END

#endif
