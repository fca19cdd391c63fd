/* status.h: what a call answers. Each code tells the runtime what to do next; the sentence goes into a buffer of the caller. */
#ifndef GAINZ_SDK_STATUS_H
#define GAINZ_SDK_STATUS_H

#include "gainz/sdk/abi.h"

GAINZ_SDK_BEGIN

typedef int32_t gainz_status;

#define GAINZ_STATUS_OK 0
#define GAINZ_STATUS_INVALID 1              /* the call or its data are wrong; a fault of the caller; nothing changed */
#define GAINZ_STATUS_UNSUPPORTED 2          /* well-formed, but this plugin does not do it; never will with these arguments */
#define GAINZ_STATUS_NOT_FOUND 3            /* no such device, extension or name */
#define GAINZ_STATUS_OUT_OF_DEVICE_MEMORY 4 /* the runtime evicts pages and tries again */
#define GAINZ_STATUS_OUT_OF_HOST_MEMORY 5   /* the request fails; the next may work */
#define GAINZ_STATUS_BUSY 6                 /* the runtime tries again later */
#define GAINZ_STATUS_CANCELLED 7            /* a callback asked to stop */
#define GAINZ_STATUS_DEVICE_LOST 8          /* sticky: every later call on the device answers this; the runtime closes it */
#define GAINZ_STATUS_LIMIT_EXCEEDED 9       /* a limit that the plugin states was crossed */
#define GAINZ_STATUS_INTERNAL 10            /* a fault of the plugin; the request fails, the device stays in use */

/* A caller's buffer for one sentence that names the thing, the value and the limit. The callee writes at most `text_capacity`
 * bytes including the final zero and cuts longer text at a whole character. May be NULL wherever it is a parameter. */
typedef struct gainz_error {
  uint32_t struct_size;
  uint32_t text_capacity; /* bytes; 0: no text wanted */
  char* text;
} gainz_error;

GAINZ_SDK_END

#endif
