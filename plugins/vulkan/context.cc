#include "context.h"

#include <algorithm>

namespace gainz::vulkan {

Context::~Context() {
  if (device_ == VK_NULL_HANDLE) return;
  if (api_.DestroySemaphore != nullptr) api_.DestroySemaphore(device_, timeline_, nullptr);
  if (api_.DestroyDevice != nullptr && !instance_.is_lent()) api_.DestroyDevice(device_, nullptr);
}

Status Context::create(const gainz_host* host, uint32_t index, const Options& options) {
  host_ = host;
  options_ = options;
  GAINZ_SDK_TRY(instance_.create(*host, options.validation));
  std::vector<Candidate> candidates;
  GAINZ_SDK_TRY(instance_.candidates(&candidates));
  if (index >= candidates.size())
    return failure(GAINZ_STATUS_NOT_FOUND, "device %u of %zu Vulkan devices", index, candidates.size());
  candidate_ = candidates[index];
  choose_tuning();
  return make_device();
}

// A CPU that runs subgroups as vectors pays for each lane's load apart and for each workgroup's barriers: one subgroup a
// workgroup, one weight row a lane. A GPU wants neighbours to read neighbouring words.
void Context::choose_tuning() {
  const bool cpu = options_.profile == Options::Profile::kCpu ||
                   (options_.profile == Options::Profile::kAuto && candidate_.kind == GAINZ_DEVICE_CPU);
  if (cpu) {
    tuning_ = {.group_size = candidate_.can_fix_subgroup ? candidate_.subgroup_size : 8,
               .one_subgroup = candidate_.can_fix_subgroup,
               .split = 1,
               .rows = 2,
               .tokens = 8};
  }
  char text[96];
  std::snprintf(text, sizeof text, " g%u.%u.%u.%u", tuning_.group_size, tuning_.one_subgroup ? 1 : 0, tuning_.split,
                tuning_.rows);
  candidate_.identity += text;
}

Status Context::make_device() {
  if (instance_.is_lent()) {
    device_ = static_cast<VkDevice>(instance_.lent().device);
    queue_ = static_cast<VkQueue>(instance_.lent().queue);
    GAINZ_SDK_TRY(api_.load(instance_.api().GetDeviceProcAddr, device_));
  } else {
    GAINZ_SDK_TRY(open_candidate());
  }
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr, VK_SEMAPHORE_TYPE_TIMELINE, 0};
  const VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
  GAINZ_VK_TRY(api_.CreateSemaphore(device_, &semaphore, nullptr, &timeline_), "making the timeline semaphore");
  max_range_bytes_ = candidate_.properties.limits.maxStorageBufferRange;
  if (options_.max_buffer_range_bytes != 0) max_range_bytes_ = std::min(max_range_bytes_, options_.max_buffer_range_bytes);
  offset_alignment_ = std::max<uint64_t>(256, candidate_.properties.limits.minStorageBufferOffsetAlignment);
  return {};
}

Status Context::open_candidate() {
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, candidate_.queue_family, 1, &priority};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, nullptr,
                                                     VK_TRUE};
  VkPhysicalDeviceSubgroupSizeControlFeatures control{};
  control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
  control.subgroupSizeControl = control.computeFullSubgroups = VK_TRUE;
  std::vector<const char*> extensions;
  if (candidate_.can_fix_subgroup) {
    timeline.pNext = &control;
    if (candidate_.properties.apiVersion < VK_API_VERSION_1_3)
      extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  }
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &timeline;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  GAINZ_VK_TRY(instance_.api().CreateDevice(candidate_.handle, &info, nullptr, &device_), "opening the device");
  GAINZ_SDK_TRY(api_.load(instance_.api().GetDeviceProcAddr, device_));
  api_.GetDeviceQueue(device_, candidate_.queue_family, 0, &queue_);
  return {};
}

void Context::log(uint32_t level, const std::string& text) const {
  if (host_->log != nullptr) host_->log(host_->ctx, level, text.c_str());
}

uint64_t Context::free_bytes() const {
  std::vector<Candidate> now;
  if (!candidate_.has_budget || !instance_.candidates(&now).ok()) return 0;
  for (const Candidate& c : now)
    if (c.handle == candidate_.handle) return c.free_bytes;
  return 0;
}

Status Context::lost() const {
  return is_lost_ ? failure(GAINZ_STATUS_DEVICE_LOST, "the device %s was lost", candidate_.name.c_str()) : Status();
}

Status Context::watch(VkResult result, const char* what) {
  if (result == VK_SUCCESS) return {};
  if (result == VK_ERROR_DEVICE_LOST) is_lost_ = true;
  return vk_failure(result, what);
}

Status Context::submit(const VkCommandBuffer* buffers, uint32_t num_buffers, uint64_t* out_ticket) {
  GAINZ_SDK_TRY(lost());
  const uint64_t ticket = last_ticket_ + 1;
  VkTimelineSemaphoreSubmitInfo values{};
  values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  values.signalSemaphoreValueCount = 1;
  values.pSignalSemaphoreValues = &ticket;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &values;
  info.commandBufferCount = num_buffers;
  info.pCommandBuffers = buffers;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &timeline_;
  const gainz_vulkan& lent = instance_.lent();
  if (lent.lock != nullptr) lent.lock(lent.ctx);
  const VkResult result = api_.QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE);
  if (lent.unlock != nullptr) lent.unlock(lent.ctx);
  GAINZ_SDK_TRY(watch(result, "submitting work"));
  last_ticket_ = ticket;
  *out_ticket = ticket;
  return {};
}

Status Context::done_ticket(uint64_t* out_ticket) {
  GAINZ_SDK_TRY(lost());
  return watch(api_.GetSemaphoreCounterValue(device_, timeline_, out_ticket), "asking what is done");
}

void Context::settle() {
  constexpr uint64_t kLongestNs = 10'000'000'000;
  const uint64_t last = last_ticket_;
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &last;
  if (timeline_ != VK_NULL_HANDLE) static_cast<void>(api_.WaitSemaphores(device_, &info, kLongestNs));
}

Status Context::wait(uint64_t ticket, uint64_t timeout_ns) {
  GAINZ_SDK_TRY(lost());
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &ticket;
  const VkResult result = api_.WaitSemaphores(device_, &info, timeout_ns);
  if (result == VK_TIMEOUT) return failure(GAINZ_STATUS_BUSY, "ticket %llu is not done yet", wide(ticket));
  return watch(result, "waiting for work");
}

}  // namespace gainz::vulkan
