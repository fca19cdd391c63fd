// reference_backend.h: the reference backend as a static part (gainz_reference_backend): every op by the normative scalar
// kernels. The plugin "reference" exports this function; a runtime may link it as its scalar fallback.
#ifndef GAINZ_SDK_REFERENCE_BACKEND_H
#define GAINZ_SDK_REFERENCE_BACKEND_H

#include "gainz/sdk/plugin.h"

GAINZ_SDK_BEGIN

/* A gainz_plugin_query_fn; see plugin.h. [loading] */
gainz_status gainz_reference_query(const gainz_host* host, gainz_plugin* out_plugin, gainz_error* error);

GAINZ_SDK_END

#endif
