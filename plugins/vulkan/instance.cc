// Instance: creation, validation, and what each physical device can do.
#include <algorithm>
#include <cstring>

#include "context.h"

namespace gainz::vulkan {

namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";
constexpr uint32_t kNumBindings = 8;  // storage buffers of a shader
constexpr uint32_t kPushBytes = 128;
constexpr uint32_t kLeastGroupSize = 64;

VKAPI_ATTR VkBool32 VKAPI_CALL tell(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                    const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  const auto* host = static_cast<const gainz_host*>(user);
  if (host->log == nullptr) return VK_FALSE;
  const std::string text = std::string("validation: ") + (data->pMessage != nullptr ? data->pMessage : "");
  host->log(host->ctx, GAINZ_LOG_ERROR, text.c_str());
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(const gainz_host* host) {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  info.pfnUserCallback = tell;
  info.pUserData = const_cast<gainz_host*>(host);
  return info;
}

template <class T>
T chained(VkStructureType type, void* next) {
  T out{};
  out.sType = type;
  out.pNext = next;
  return out;
}

bool has_extension(const std::vector<VkExtensionProperties>& all, const char* name) {
  return std::any_of(all.begin(), all.end(), [&](const auto& e) { return std::strcmp(e.extensionName, name) == 0; });
}

}  // namespace

Instance::~Instance() {
  if (instance_ == VK_NULL_HANDLE || api_.DestroyInstance == nullptr || is_lent()) return;
  if (messenger_ != VK_NULL_HANDLE) api_.DestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  api_.DestroyInstance(instance_, nullptr);
}

Status Instance::create(const gainz_host& host, bool validation) {
  host_ = &host;
  if (host.get_extension != nullptr) {
    if (const void* lent = host.get_extension(host.ctx, GAINZ_EXT_VULKAN, GAINZ_EXT_VULKAN_REVISION); lent != nullptr)
      return adopt(*static_cast<const gainz_vulkan*>(lent));
  }
  GAINZ_SDK_TRY(find_loader(&get_));
  const auto make = reinterpret_cast<PFN_vkCreateInstance>(get_(nullptr, "vkCreateInstance"));
  if (make == nullptr) return failure(GAINZ_STATUS_NOT_FOUND, "the Vulkan loader has no vkCreateInstance");
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "gainz";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(host_);
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  if (validation) {
    info.pNext = &messenger;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
  }
  GAINZ_VK_TRY(make(&info, nullptr, &instance_), validation ? "making an instance with validation" : "making an instance");
  GAINZ_SDK_TRY(api_.load(get_, instance_));
  if (validation && api_.CreateDebugUtilsMessengerEXT != nullptr)
    GAINZ_VK_TRY(api_.CreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr, &messenger_), "listening to validation");
  return {};
}

Status Instance::adopt(const gainz_vulkan& lent) {
  gainz_vulkan own{};
  GAINZ_SDK_TRY(sdk::read_struct(&lent, &own, "gainz_vulkan"));
  if (own.get_instance_proc_addr == nullptr || own.instance == nullptr || own.physical_device == nullptr ||
      own.device == nullptr || own.queue == nullptr || (own.lock == nullptr) != (own.unlock == nullptr))
    return failure(GAINZ_STATUS_INVALID, "gainz_vulkan: a handle is NULL, or one of lock and unlock is");
  lent_ = own;
  get_ = reinterpret_cast<PFN_vkGetInstanceProcAddr>(own.get_instance_proc_addr);
  instance_ = static_cast<VkInstance>(own.instance);
  return api_.load(get_, instance_);
}

Status Instance::candidates(std::vector<Candidate>* out) const {
  if (is_lent()) {
    Candidate candidate;
    bool fits = false;
    GAINZ_SDK_TRY(examine(static_cast<VkPhysicalDevice>(lent_.physical_device), &candidate, &fits));
    if (!fits) return failure(GAINZ_STATUS_UNSUPPORTED, "the host's Vulkan device lacks what docs/vulkan.md asks for");
    candidate.queue_family = lent_.queue_family;
    candidate.can_fix_subgroup = candidate.can_fix_subgroup && (lent_.features & GAINZ_VULKAN_SUBGROUP_SIZES) != 0;
    out->push_back(std::move(candidate));
    return {};
  }
  uint32_t count = 0;
  GAINZ_VK_TRY(api_.EnumeratePhysicalDevices(instance_, &count, nullptr), "listing devices");
  std::vector<VkPhysicalDevice> handles(count);
  if (count != 0) GAINZ_VK_TRY(api_.EnumeratePhysicalDevices(instance_, &count, handles.data()), "listing devices");
  for (uint32_t i = 0; i < count && out->size() < GAINZ_MAX_DEVICES; ++i) {
    Candidate candidate;
    bool fits = false;
    GAINZ_SDK_TRY(examine(handles[i], &candidate, &fits));
    if (fits) out->push_back(std::move(candidate));
  }
  return {};
}

Status Instance::examine(VkPhysicalDevice handle, Candidate* out, bool* out_fits) const {
  uint32_t count = 0;
  GAINZ_VK_TRY(api_.EnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr), "listing extensions");
  std::vector<VkExtensionProperties> extensions(count);
  if (count != 0)
    GAINZ_VK_TRY(api_.EnumerateDeviceExtensionProperties(handle, nullptr, &count, extensions.data()), "listing extensions");

  auto control = chained<VkPhysicalDeviceSubgroupSizeControlProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES, nullptr);
  auto dots = chained<VkPhysicalDeviceShaderIntegerDotProductProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES, &control);
  auto driver = chained<VkPhysicalDeviceDriverProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, &dots);
  auto subgroup = chained<VkPhysicalDeviceSubgroupProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, &driver);
  auto properties = chained<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, nullptr);
  api_.GetPhysicalDeviceProperties2(handle, &properties);
  const VkPhysicalDeviceLimits& limits = properties.properties.limits;
  *out_fits = properties.properties.apiVersion >= VK_API_VERSION_1_2 && limits.maxPushConstantsSize >= kPushBytes &&
              limits.maxPerStageDescriptorStorageBuffers >= kNumBindings &&
              limits.maxComputeWorkGroupInvocations >= kLeastGroupSize;
  if (!*out_fits) return {};
  const bool is_13 = properties.properties.apiVersion >= VK_API_VERSION_1_3;
  const bool has_control = is_13 || has_extension(extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  if (!is_13) {
    dots.pNext = has_control ? static_cast<void*>(&control) : nullptr;
    if (!has_extension(extensions, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME)) driver.pNext = dots.pNext;
  }
  properties.pNext = &subgroup;
  api_.GetPhysicalDeviceProperties2(handle, &properties);

  auto control_features = chained<VkPhysicalDeviceSubgroupSizeControlFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, nullptr);
  auto timeline = chained<VkPhysicalDeviceTimelineSemaphoreFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, has_control ? &control_features : nullptr);
  auto features = chained<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &timeline);
  api_.GetPhysicalDeviceFeatures2(handle, &features);

  uint32_t num_families = 0;
  api_.GetPhysicalDeviceQueueFamilyProperties(handle, &num_families, nullptr);
  std::vector<VkQueueFamilyProperties> families(num_families);
  api_.GetPhysicalDeviceQueueFamilyProperties(handle, &num_families, families.data());
  // A family that only computes leaves the one that draws alone.
  out->queue_family = kNone;
  for (uint32_t f = 0; f < num_families; ++f) {
    if ((families[f].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || families[f].queueCount == 0) continue;
    if (out->queue_family == kNone || (families[f].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0) out->queue_family = f;
  }
  const bool has_ballot = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                          (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT) != 0;
  *out_fits = timeline.timelineSemaphore == VK_TRUE && out->queue_family != kNone && has_ballot;
  if (!*out_fits) return {};

  out->has_budget = has_extension(extensions, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  auto budget = chained<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT, nullptr);
  auto memory = chained<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                                           out->has_budget ? &budget : nullptr);
  api_.GetPhysicalDeviceMemoryProperties2(handle, &memory);
  out->handle = handle;
  out->properties = properties.properties;
  out->memory = memory.memoryProperties;
  for (uint32_t h = 0; h < out->memory.memoryHeapCount; ++h) {
    if ((out->memory.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0) continue;
    out->memory_bytes += out->memory.memoryHeaps[h].size;
    if (out->has_budget && budget.heapBudget[h] > budget.heapUsage[h])
      out->free_bytes += budget.heapBudget[h] - budget.heapUsage[h];
  }
  const VkPhysicalDeviceType type = out->properties.deviceType;
  out->is_unified = type == VK_PHYSICAL_DEVICE_TYPE_CPU || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  out->kind = type == VK_PHYSICAL_DEVICE_TYPE_CPU ? GAINZ_DEVICE_CPU : GAINZ_DEVICE_GPU;
  out->subgroup_size = subgroup.subgroupSize;
  out->can_fix_subgroup = has_control && control_features.subgroupSizeControl == VK_TRUE &&
                          control_features.computeFullSubgroups == VK_TRUE && subgroup.subgroupSize >= 4 &&
                          subgroup.subgroupSize <= 32 &&
                          (control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                          control.minSubgroupSize <= subgroup.subgroupSize && subgroup.subgroupSize <= control.maxSubgroupSize;
  out->has_integer_dot = dots.integerDotProduct4x8BitPackedSignedAccelerated == VK_TRUE;
  out->name = out->properties.deviceName;
  const uint32_t v = out->properties.apiVersion;
  const auto number = [](uint32_t n) { return std::to_string(n); };
  out->api_text = "vulkan " + number(VK_API_VERSION_MAJOR(v)) + "." + number(VK_API_VERSION_MINOR(v)) + "." +
                  number(VK_API_VERSION_PATCH(v)) + ", " + driver.driverName + " " + driver.driverInfo;
  out->identity = "vulkan-0.1.0 " + out->name + ", " + driver.driverName + " " + driver.driverInfo;
  return {};
}

}  // namespace gainz::vulkan
