/* plugin.h: the one exported function and the table it fills. */
#ifndef GAINZ_SDK_PLUGIN_H
#define GAINZ_SDK_PLUGIN_H

#include "gainz/sdk/device.h"
#include "gainz/sdk/host.h"

GAINZ_SDK_BEGIN

/* Owner: the plugin; strings and functions stay valid while the library is loaded (the host never unloads one). The host copies
 * the table once into a full-size, zeroed one. */
typedef struct gainz_plugin {
  uint32_t struct_size;
  uint32_t abi_major; /* the versions the plugin was compiled with */
  uint32_t abi_minor;
  uint32_t reserved;
  const char* name;    /* what `backend = "..."` names: [a-z0-9_-]{1,31} */
  const char* version; /* of the plugin */
  const char* vendor;

  /* Fills `out_devices` (stride in bytes, `capacity` elements) and sets *out_count to how many there are, which may be more
   * than capacity. May start drivers. No device is OK with *out_count 0. At most GAINZ_MAX_DEVICES count. Errors: UNSUPPORTED
   * or NOT_FOUND with the driver's own reason. [loading] */
  gainz_status (*device_list)(const gainz_host* host, gainz_device_desc* out_devices, uint64_t stride, uint32_t capacity,
                              uint32_t* out_count, gainz_error* error);

  /* Opens device `index` of the list. `host` stays valid until close. An unknown option is INVALID, never ignored. Fills
   * *out_api (its struct_size says how much fits) and *out_device. [loading] */
  gainz_status (*device_open)(const gainz_host* host, uint32_t index, const gainz_option* options, uint64_t stride,
                              uint32_t num_options, gainz_device_api* out_api, gainz_device** out_device, gainz_error* error);

  /* A plugin extension by name and revision, or NULL. May be NULL itself. [any-thread] */
  const void* (*get_extension)(const char* name, uint32_t revision);
} gainz_plugin;

#define GAINZ_MAX_DEVICES 64u

/* gainz_plugin_query_v0: fills *out_plugin, whose struct_size the host has set to the size it can take; sets struct_size to the
 * plugin's own. Pure and quick: no driver start, threads, files or allocation. It may refuse this host with a reason.
 * Errors: UNSUPPORTED (versions differ, or this machine cannot run the plugin). [loading] */
typedef gainz_status (*gainz_plugin_query_fn)(const gainz_host* host, gainz_plugin* out_plugin, gainz_error* error);

GAINZ_SDK_END

#endif
