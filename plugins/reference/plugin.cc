// The exported symbol of the plugin "reference"; the backend itself is sdk/simple/reference_backend.cc.
#include "gainz/sdk/reference_backend.h"

extern "C" GAINZ_SDK_EXPORT gainz_status gainz_plugin_query_v0(const gainz_host* host, gainz_plugin* out_plugin,
                                                               gainz_error* error) {
  return gainz_reference_query(host, out_plugin, error);
}
