// Context: an instance, the chosen device, its queue and one timeline semaphore; what the device can do and how kernels are
// shaped for it. Owner: the opened device. Threads: [device-thread] but for wait, poll and the getters.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "api.h"
#include "gainz/sdk/ext_vulkan.h"

namespace gainz::vulkan {

// How kernels are specialised; decides the order of sums, so it is part of a device's identity.
struct Tuning {
  uint32_t group_size = 64;   // invocations of a workgroup
  bool one_subgroup = false;  // a workgroup is one subgroup of exactly that size
  uint32_t split = 8;         // invocations that share a weight row
  uint32_t rows = 1;          // weight rows an invocation makes
  uint32_t tokens = 8;        // most rows of x it makes them for
};

// What device_open's options say; docs/vulkan.md describes each.
struct Options {
  enum class Profile { kAuto, kCpu, kGpu };
  Profile profile = Profile::kAuto;
  bool validation = false;
  bool staged = false;                  // device memory is never mapped
  uint64_t memory_limit_bytes = 0;      // 0: none
  uint64_t max_buffer_range_bytes = 0;  // 0: the device's own
};

// A physical device that this plugin can run on.
struct Candidate {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string name, api_text, identity;
  uint32_t kind = 0;  // GAINZ_DEVICE_*
  uint64_t memory_bytes = 0, free_bytes = 0;
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceMemoryProperties memory{};
  uint32_t queue_family = 0;
  uint32_t subgroup_size = 1;
  bool can_fix_subgroup = false;  // workgroups of one whole subgroup can be asked for
  bool has_integer_dot = false;   // packed products of bytes are quick
  bool is_unified = false;        // device memory is host memory
  bool has_budget = false;
};

// An instance, for listing or for a device.
class Instance {
 public:
  Instance() = default;
  ~Instance();
  Instance(const Instance&) = delete;
  // NOT_FOUND: no loader or no driver. The host's log gets what validation says. Where the host lends a device
  // (ext_vulkan.h), its instance is used.
  Status create(const gainz_host& host, bool validation);
  // What this plugin can run on; of a host that lends a device, that one.
  Status candidates(std::vector<Candidate>* out) const;
  bool is_lent() const { return lent_.device != nullptr; }
  const gainz_vulkan& lent() const { return lent_; }
  const InstanceApi& api() const { return api_; }
  VkInstance handle() const { return instance_; }

 private:
  Status adopt(const gainz_vulkan& lent);
  Status examine(VkPhysicalDevice handle, Candidate* out, bool* out_fits) const;
  PFN_vkGetInstanceProcAddr get_ = nullptr;
  InstanceApi api_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  const gainz_host* host_ = nullptr;
  gainz_vulkan lent_{};
};

class Context {
 public:
  ~Context();
  // `host` stays valid as long as the context.
  Status create(const gainz_host* host, uint32_t index, const Options& options);

  const DeviceApi& api() const { return api_; }
  VkDevice device() const { return device_; }
  VkInstance instance() const { return instance_.handle(); }
  VkQueue queue() const { return queue_; }
  uint32_t queue_family() const { return candidate_.queue_family; }
  const Candidate& candidate() const { return candidate_; }
  const Options& options() const { return options_; }
  const Tuning& tuning() const { return tuning_; }
  const gainz_host& host() const { return *host_; }
  uint64_t max_range_bytes() const { return max_range_bytes_; }
  uint64_t offset_alignment() const { return offset_alignment_; }
  void log(uint32_t level, const std::string& text) const;
  uint64_t free_bytes() const;

  // Queues command buffers; *out_ticket is the semaphore's value when they are done. DEVICE_LOST is sticky.
  Status submit(const VkCommandBuffer* buffers, uint32_t num_buffers, uint64_t* out_ticket);
  uint64_t last_ticket() const { return last_ticket_; }
  Status done_ticket(uint64_t* out_ticket);
  Status wait(uint64_t ticket, uint64_t timeout_ns);  // BUSY after the timeout
  Status wait_idle() { return wait(last_ticket_, UINT64_MAX); }
  // Before anything is destroyed: work that was queued may run on even where the device says that it is lost. Bounded.
  void settle();
  Status lost() const;

 private:
  Status make_device();
  Status open_candidate();
  void choose_tuning();
  Status watch(VkResult result, const char* what);

  const gainz_host* host_ = nullptr;
  Options options_;
  Instance instance_;
  Candidate candidate_;
  DeviceApi api_;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  Tuning tuning_;
  uint64_t max_range_bytes_ = 0, offset_alignment_ = 256;
  std::atomic<uint64_t> last_ticket_{0};
  std::atomic<bool> is_lost_{false};
};

}  // namespace gainz::vulkan
