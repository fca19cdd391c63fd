#include "api.h"

#include <mutex>

#define VOLK_IMPLEMENTATION
#include <volk.h>

namespace gainz::vulkan {

Status find_loader(PFN_vkGetInstanceProcAddr* out_get) {
  // volk keeps the loader's entry in a global of its own: found once, the same for everybody afterwards.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static PFN_vkGetInstanceProcAddr found = nullptr;
  if (found == nullptr && volkInitialize() == VK_SUCCESS) found = vkGetInstanceProcAddr;
  if (found == nullptr) return failure(GAINZ_STATUS_NOT_FOUND, "no Vulkan loader (libvulkan.so.1) on this machine");
  *out_get = found;
  return {};
}

Status InstanceApi::load(PFN_vkGetInstanceProcAddr get, VkInstance instance) {
#define GAINZ_VULKAN_LOAD(name)                                     \
  name = reinterpret_cast<PFN_vk##name>(get(instance, "vk" #name)); \
  if (name == nullptr) return failure(GAINZ_STATUS_UNSUPPORTED, "the Vulkan instance has no vk" #name);
  GAINZ_VULKAN_INSTANCE_FUNCTIONS(GAINZ_VULKAN_LOAD)
  CreateDebugUtilsMessengerEXT =
      reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(get(instance, "vkCreateDebugUtilsMessengerEXT"));
  DestroyDebugUtilsMessengerEXT =
      reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(get(instance, "vkDestroyDebugUtilsMessengerEXT"));
#undef GAINZ_VULKAN_LOAD
  return {};
}

Status DeviceApi::load(PFN_vkGetDeviceProcAddr get, VkDevice device) {
#define GAINZ_VULKAN_LOAD(name)                                   \
  name = reinterpret_cast<PFN_vk##name>(get(device, "vk" #name)); \
  if (name == nullptr) return failure(GAINZ_STATUS_UNSUPPORTED, "the Vulkan device has no vk" #name);
  GAINZ_VULKAN_DEVICE_FUNCTIONS(GAINZ_VULKAN_LOAD)
#undef GAINZ_VULKAN_LOAD
  return {};
}

static const char* result_name(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "initialization failed";
    case VK_ERROR_DEVICE_LOST:
      return "device lost";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "a layer is not present";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "an extension is not present";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "a feature is not present";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "no driver (ICD) that fits";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "too many objects";
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
      return "out of pool memory";
    default:
      return "an error";
  }
}

Status vk_failure(VkResult result, const char* what) {
  gainz_status code = GAINZ_STATUS_INTERNAL;
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY) code = GAINZ_STATUS_OUT_OF_HOST_MEMORY;
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_FRAGMENTED_POOL)
    code = GAINZ_STATUS_OUT_OF_DEVICE_MEMORY;
  if (result == VK_ERROR_DEVICE_LOST) code = GAINZ_STATUS_DEVICE_LOST;
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER || result == VK_ERROR_LAYER_NOT_PRESENT) code = GAINZ_STATUS_NOT_FOUND;
  return failure(code, "%s: Vulkan says %s (%d)", what, result_name(result), static_cast<int>(result));
}

}  // namespace gainz::vulkan
