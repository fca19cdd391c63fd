// The host's extensions: a device that the host lends, and a cache for compiled pipelines.
#include "gainz/sdk/ext_cache.h"
#include "gainz/sdk/ext_vulkan.h"

#include <cstring>

#include "context.h"
#include "vulkan_test.h"

namespace gainz::test {
namespace {

// What the test's host answers; get_extension has no other way to reach it than its own statics.
struct Lent {
  gainz_vulkan vulkan{};
  gainz_cache cache{};
  std::map<std::string, std::vector<uint8_t>> kept;
  int num_locks = 0, num_stores = 0;
  bool is_locked = false;
  PFN_vkGetInstanceProcAddr loader = nullptr;
  PFN_vkGetDeviceProcAddr get_device = nullptr;
  PFN_vkQueueSubmit submit = nullptr;
  PFN_vkAllocateMemory allocate = nullptr;
  int64_t lost_in = -1, full_in = -1;  // the call that fails, counted from 0
};
Lent& lent() {
  static Lent all;
  return all;
}

class VulkanExtensions : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    lent() = {};
    host_.mutable_host()->get_extension = [](void*, const char* name, uint32_t revision) -> const void* {
      if (revision != 1) return nullptr;
      if (std::strcmp(name, GAINZ_EXT_VULKAN) == 0 && lent().vulkan.struct_size != 0) return &lent().vulkan;
      if (std::strcmp(name, GAINZ_EXT_CACHE) == 0 && lent().cache.struct_size != 0) return &lent().cache;
      return nullptr;
    };
  }
  // The plugin's own Context stands for an engine that has a device already.
  void lend(TestHost& engine_host, vulkan::Context* engine) {
    ASSERT_TRUE(engine->create(engine_host.get(), 0, {}).ok());
    ASSERT_TRUE(vulkan::find_loader(&lent().loader).ok());
    gainz_vulkan& v = lent().vulkan;
    v.struct_size = sizeof v;
    v.features = GAINZ_VULKAN_SUBGROUP_SIZES;
    v.get_instance_proc_addr = reinterpret_cast<void (*)()>(lent().loader);
    v.instance = engine->instance();
    v.physical_device = engine->candidate().handle;
    v.device = engine->device();
    v.queue = engine->queue();
    v.queue_family = engine->queue_family();
    validation_.clear();  // the instance is the host's
  }
  // Vulkan as it is, but for calls that can be made to fail.
  void lend_faults() { lent().vulkan.get_instance_proc_addr = reinterpret_cast<void (*)()>(&get_instance_function); }
  static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name) {
    const PFN_vkVoidFunction real = lent().loader != nullptr ? lent().loader(instance, name) : nullptr;
    if (std::strcmp(name, "vkGetDeviceProcAddr") != 0) return real;
    lent().get_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(&get_device_function);
  }
  static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
    const PFN_vkVoidFunction real = lent().get_device != nullptr ? lent().get_device(device, name) : nullptr;
    if (std::strcmp(name, "vkQueueSubmit") == 0) {
      lent().submit = reinterpret_cast<PFN_vkQueueSubmit>(real);
      return reinterpret_cast<PFN_vkVoidFunction>(&submit_or_fail);
    }
    if (std::strcmp(name, "vkAllocateMemory") == 0) {
      lent().allocate = reinterpret_cast<PFN_vkAllocateMemory>(real);
      return reinterpret_cast<PFN_vkVoidFunction>(&allocate_or_fail);
    }
    return real;
  }
  static VKAPI_ATTR VkResult VKAPI_CALL submit_or_fail(VkQueue queue, uint32_t count, const VkSubmitInfo* infos,
                                                       VkFence fence) {
    const bool fails = lent().lost_in-- == 0 || lent().submit == nullptr;
    return fails ? VK_ERROR_DEVICE_LOST : lent().submit(queue, count, infos, fence);
  }
  static VKAPI_ATTR VkResult VKAPI_CALL allocate_or_fail(VkDevice device, const VkMemoryAllocateInfo* info,
                                                         const VkAllocationCallbacks* callbacks, VkDeviceMemory* out) {
    const bool fails = lent().full_in-- == 0 || lent().allocate == nullptr;
    return fails ? VK_ERROR_OUT_OF_DEVICE_MEMORY : lent().allocate(device, info, callbacks, out);
  }
  void lend_cache() {
    lent().cache.struct_size = sizeof(gainz_cache);
    lent().cache.load = [](void*, const char* key, void* out, uint64_t capacity, uint64_t* out_size) -> gainz_status {
      const auto found = lent().kept.find(key);
      if (found == lent().kept.end()) return GAINZ_STATUS_NOT_FOUND;
      *out_size = found->second.size();
      if (out != nullptr) std::memcpy(out, found->second.data(), std::min<uint64_t>(capacity, *out_size));
      return GAINZ_STATUS_OK;
    };
    lent().cache.store = [](void*, const char* key, const void* bytes, uint64_t size) -> gainz_status {
      const auto* first = static_cast<const uint8_t*>(bytes);
      lent().kept[key].assign(first, first + size);
      ++lent().num_stores;
      return GAINZ_STATUS_OK;
    };
  }
};

TEST_F(VulkanExtensions, RunsOnTheHostsDevice) {
  if (IsSkipped()) return;
  const std::vector<int32_t> tokens = random_tokens(20, 96, 2);
  const Rows want = answer(*plugin_, {}, {}, tokens, 20);
  TestHost engine_host(1);
  vulkan::Context engine;
  lend(engine_host, &engine);
  gainz_vulkan& v = lent().vulkan;
  v.lock = [](void*) {
    EXPECT_FALSE(lent().is_locked);
    lent().is_locked = true;
    ++lent().num_locks;
  };
  v.unlock = [](void*) { lent().is_locked = false; };

  uint32_t count = 0;
  ASSERT_EQ(plugin_->table().device_list(host_.get(), nullptr, 0, 0, &count, nullptr), GAINZ_STATUS_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(answer(*plugin_, {}, {}, tokens, 20), want);
  EXPECT_GT(lent().num_locks, 0);
  EXPECT_FALSE(lent().is_locked);
  uint64_t done = 0;
  EXPECT_TRUE(engine.done_ticket(&done).ok());  // the device lives on

  v.unlock = nullptr;
  EXPECT_THROW(Device{*plugin_}, std::runtime_error);
  v.struct_size = 0;
}

// The device is lost at each submit in turn: while loading, in the first step, in a later one. Every later call says so,
// closing works, and the device can be opened again.
TEST_F(VulkanExtensions, ALostDeviceIsAStatus) {
  if (IsSkipped()) return;
  TestHost engine_host(1);
  vulkan::Context engine;
  lend(engine_host, &engine);
  lend_faults();
  const std::vector<int32_t> tokens = random_tokens(6, 96, 2);
  bool done = false;
  for (int64_t n = 0; !done; ++n) {
    ASSERT_LT(n, 100);
    lent().lost_in = n;
    try {
      answer(*plugin_, {}, {.one_slice_a_run = true}, tokens, 3);
      done = true;
    } catch (const std::runtime_error& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("status 8")) << n;
    }
    lent().lost_in = -1;
  }
  Device device(*plugin_);
  GraphBuilder graph;
  build_toy(&graph, {});
  Runner runner(device, &graph);
  Conversation c = runner.begin();
  runner.step({{&c, {3}}});
  uint64_t ticket = 0;
  uint32_t is_done = 0;
  lent().lost_in = 0;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(device->run(device.get(), runner.program(), runner.last_step(), 0, 1, &ticket, nullptr),
              GAINZ_STATUS_DEVICE_LOST);
  EXPECT_EQ(device->poll(device.get(), 1, &is_done, nullptr), GAINZ_STATUS_DEVICE_LOST);
  EXPECT_EQ(device->wait(device.get(), 1, 1000, nullptr), GAINZ_STATUS_DEVICE_LOST);
}

TEST_F(VulkanExtensions, AFullDeviceIsAStatus) {
  if (IsSkipped()) return;
  TestHost engine_host(1);
  vulkan::Context engine;
  lend(engine_host, &engine);
  lend_faults();
  bool done = false;
  for (int64_t n = 0; !done; ++n) {
    ASSERT_LT(n, 100);
    lent().full_in = n;
    try {
      answer(*plugin_, {}, {}, random_tokens(6, 96, 2), 3);
      done = true;
    } catch (const std::runtime_error& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("status 4")) << n;
      EXPECT_THAT(e.what(), ::testing::HasSubstr("needs")) << n;
    }
  }
}

TEST_F(VulkanExtensions, KeepsPipelinesInTheHostsCache) {
  if (IsSkipped()) return;
  lend_cache();
  const std::vector<int32_t> tokens = random_tokens(5, 96, 2);
  const Rows want = answer(*plugin_, {}, {}, tokens, 5);
  ASSERT_EQ(lent().kept.size(), 1u);
  EXPECT_THAT(lent().kept.begin()->first, ::testing::MatchesRegex("vulkan-[0-9a-f-]+"));
  EXPECT_GT(lent().num_stores, 0);
  EXPECT_EQ(answer(*plugin_, {}, {}, tokens, 5), want);
  EXPECT_THAT(log_lines(), ::testing::Not(::testing::Contains(::testing::HasSubstr("compiled anew"))));
  std::vector<uint8_t>& bytes = lent().kept.begin()->second;
  bytes.back() ^= 1;
  EXPECT_EQ(answer(*plugin_, {}, {}, tokens, 5), want);
  EXPECT_THAT(log_lines(), ::testing::Contains(::testing::HasSubstr("compiled anew")));
  bytes.assign(7, 0);  // shorter than a header
  EXPECT_EQ(answer(*plugin_, {}, {}, tokens, 5), want);
}

}  // namespace
}  // namespace gainz::test
