/* host.h: what the host lends to a plugin. Owner: the host; valid until the last device of the plugin is closed. */
#ifndef GAINZ_SDK_HOST_H
#define GAINZ_SDK_HOST_H

#include "gainz/sdk/status.h"

GAINZ_SDK_BEGIN

#define GAINZ_LOG_ERROR 0u
#define GAINZ_LOG_WARNING 1u
#define GAINZ_LOG_INFO 2u
#define GAINZ_LOG_DEBUG 3u

/* Work on the indices [begin, end). `worker` is below num_workers and no two calls with one `worker` run at once. */
typedef void (*gainz_parallel_body)(void* arg, uint64_t begin, uint64_t end, uint32_t worker);

typedef struct gainz_host {
  uint32_t struct_size;
  uint32_t abi_major; /* GAINZ_ABI_MAJOR and _MINOR of the host */
  uint32_t abi_minor;
  uint32_t reserved;
  void* ctx; /* first argument of every function below */

  /* Memory of the host's allocator; `alignment` is a power of two; NULL when there is none. release takes what allocate was
   * given. [any-thread] */
  void* (*allocate)(void* ctx, uint64_t size_bytes, uint64_t alignment);
  void (*release)(void* ctx, void* memory, uint64_t size_bytes, uint64_t alignment);

  /* One line for the host's log, without a line end. [any-thread] */
  void (*log)(void* ctx, uint32_t level, const char* text);

  /* Calls body over [0, count) in runs of `grain` indices (the last may be shorter) on the calling thread and the host's
   * workers, and returns when all are done. Which worker gets which run differs from call to call, so a result must not depend
   * on it. Not to be called from inside a body. Never fails. [device-thread] */
  void (*parallel_for)(void* ctx, uint64_t count, uint64_t grain, gainz_parallel_body body, void* arg);

  /* The number of workers, the calling thread included; at least 1 and constant. [any-thread] */
  uint32_t (*num_workers)(void* ctx);

  /* A host extension by name and revision, or NULL. [any-thread] */
  const void* (*get_extension)(void* ctx, const char* name, uint32_t revision);
} gainz_host;

GAINZ_SDK_END

#endif
