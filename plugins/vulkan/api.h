// Tables of the Vulkan functions that the plugin calls, loaded for each instance and device apart, so that two runtimes or an
// adopted instance never share a pointer. volk finds the loader and nothing else. Owner: a Context. Any thread once loaded.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include "support.h"

namespace gainz::vulkan {

#define GAINZ_VULKAN_INSTANCE_FUNCTIONS(X) \
  X(CreateDevice)                          \
  X(DestroyInstance)                       \
  X(EnumerateDeviceExtensionProperties)    \
  X(EnumeratePhysicalDevices)              \
  X(GetDeviceProcAddr)                     \
  X(GetPhysicalDeviceFeatures2)            \
  X(GetPhysicalDeviceMemoryProperties2)    \
  X(GetPhysicalDeviceProperties2)          \
  X(GetPhysicalDeviceQueueFamilyProperties)

#define GAINZ_VULKAN_DEVICE_FUNCTIONS(X) \
  X(AllocateCommandBuffers)              \
  X(AllocateDescriptorSets)              \
  X(AllocateMemory)                      \
  X(BeginCommandBuffer)                  \
  X(BindBufferMemory)                    \
  X(CmdBindDescriptorSets)               \
  X(CmdBindPipeline)                     \
  X(CmdCopyBuffer)                       \
  X(CmdDispatchIndirect)                 \
  X(CmdFillBuffer)                       \
  X(CmdPipelineBarrier)                  \
  X(CmdPushConstants)                    \
  X(CreateBuffer)                        \
  X(CreateCommandPool)                   \
  X(CreateComputePipelines)              \
  X(CreateDescriptorPool)                \
  X(CreateDescriptorSetLayout)           \
  X(CreatePipelineCache)                 \
  X(CreatePipelineLayout)                \
  X(CreateSemaphore)                     \
  X(CreateShaderModule)                  \
  X(DestroyBuffer)                       \
  X(DestroyCommandPool)                  \
  X(DestroyDescriptorPool)               \
  X(DestroyDescriptorSetLayout)          \
  X(DestroyDevice)                       \
  X(DestroyPipeline)                     \
  X(DestroyPipelineCache)                \
  X(DestroyPipelineLayout)               \
  X(DestroySemaphore)                    \
  X(DestroyShaderModule)                 \
  X(EndCommandBuffer)                    \
  X(FreeMemory)                          \
  X(GetBufferMemoryRequirements)         \
  X(GetDeviceQueue)                      \
  X(GetPipelineCacheData)                \
  X(GetSemaphoreCounterValue)            \
  X(MapMemory)                           \
  X(QueueSubmit)                         \
  X(UpdateDescriptorSets)                \
  X(WaitSemaphores)

#define GAINZ_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;
struct InstanceApi {
  GAINZ_VULKAN_INSTANCE_FUNCTIONS(GAINZ_VULKAN_MEMBER)
  // Only where validation is on.
  PFN_vkCreateDebugUtilsMessengerEXT CreateDebugUtilsMessengerEXT = nullptr;
  PFN_vkDestroyDebugUtilsMessengerEXT DestroyDebugUtilsMessengerEXT = nullptr;
  // INTERNAL names a function that is missing.
  Status load(PFN_vkGetInstanceProcAddr get, VkInstance instance);
};
struct DeviceApi {
  GAINZ_VULKAN_DEVICE_FUNCTIONS(GAINZ_VULKAN_MEMBER)
  Status load(PFN_vkGetDeviceProcAddr get, VkDevice device);
};
#undef GAINZ_VULKAN_MEMBER

// The loader's entry; NOT_FOUND where this machine has no Vulkan loader.
Status find_loader(PFN_vkGetInstanceProcAddr* out_get);

// A status for a VkResult that is no success: what was tried and the result's name.
Status vk_failure(VkResult result, const char* what);

}  // namespace gainz::vulkan

// Returns from the enclosing function where the VkResult is no success.
#define GAINZ_VK_TRY(expression, what) \
  if (const VkResult vk_result = (expression); vk_result != VK_SUCCESS) return ::gainz::vulkan::vk_failure(vk_result, what)
