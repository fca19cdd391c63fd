/* ext_cache.h: a host extension: bytes that a plugin may keep from one run to the next, such as compiled shaders.
 *
 * gainz_host.get_extension(ctx, GAINZ_EXT_CACHE, GAINZ_EXT_CACHE_REVISION) gives a gainz_cache, or NULL where the host keeps
 * nothing; a plugin works the same without it, only slower to start. What comes back may be old, cut or made by somebody else:
 * the plugin checks it and goes on without it where it does not fit. */
#ifndef GAINZ_SDK_EXT_CACHE_H
#define GAINZ_SDK_EXT_CACHE_H

#include "gainz/sdk/status.h"

GAINZ_SDK_BEGIN

#define GAINZ_EXT_CACHE "gainz.cache"
#define GAINZ_EXT_CACHE_REVISION 1u

/* Owner: the host; valid as long as its gainz_host. */
typedef struct gainz_cache {
  uint32_t struct_size;
  uint32_t reserved;
  void* ctx;

  /* *out_num_bytes becomes the size of what is kept under `key` ([a-z0-9_.-]{1,63}); at most `capacity` of its bytes are
   * written. NOT_FOUND where there is nothing. [any-thread] */
  gainz_status (*load)(void* ctx, const char* key, void* out_bytes, uint64_t capacity, uint64_t* out_num_bytes);
  /* Keeps a copy of the bytes in place of what was kept under `key`. A host may forget it at any time. [any-thread] */
  gainz_status (*store)(void* ctx, const char* key, const void* bytes, uint64_t num_bytes);
} gainz_cache;

GAINZ_SDK_END

#endif
