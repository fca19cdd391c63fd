/* ext_vulkan.h: a host extension: the host's own Vulkan device, for programs that render on the device that computes.
 *
 * gainz_host.get_extension(ctx, GAINZ_EXT_VULKAN, GAINZ_EXT_VULKAN_REVISION) gives a gainz_vulkan, or NULL. A plugin that knows
 * it lists this one device and opens no other: it creates neither instance nor device, and destroys neither. Handles are
 * dispatchable ones of Vulkan, which are pointers; this header needs none of Vulkan's.
 *
 * The device was made with version 1.2 or later and the feature timelineSemaphore; `features` names what else it was made with.
 * Everything outlives the plugin's device. */
#ifndef GAINZ_SDK_EXT_VULKAN_H
#define GAINZ_SDK_EXT_VULKAN_H

#include "gainz/sdk/abi.h"

GAINZ_SDK_BEGIN

#define GAINZ_EXT_VULKAN "gainz.vulkan"
#define GAINZ_EXT_VULKAN_REVISION 1u

/* gainz_vulkan.features */
#define GAINZ_VULKAN_SUBGROUP_SIZES 1u /* subgroupSizeControl and computeFullSubgroups are enabled */

/* Owner: the host; valid as long as its gainz_host. */
typedef struct gainz_vulkan {
  uint32_t struct_size;
  uint32_t features; /* GAINZ_VULKAN_* */
  void* ctx;
  void (*get_instance_proc_addr)(void); /* a PFN_vkGetInstanceProcAddr */
  void* instance;                       /* VkInstance */
  void* physical_device;                /* VkPhysicalDevice */
  void* device;                         /* VkDevice */
  void* queue;                          /* VkQueue of the family below, with compute */
  uint32_t queue_family;
  uint32_t reserved;

  /* Around each use of the queue by the plugin, on the thread that uses it; the plugin takes no other lock inside and returns
   * soon. Both or neither are NULL; NULL where nobody else uses the queue. [any-thread] */
  void (*lock)(void* ctx);
  void (*unlock)(void* ctx);
} gainz_vulkan;

GAINZ_SDK_END

#endif
