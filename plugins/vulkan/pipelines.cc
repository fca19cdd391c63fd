#include "pipelines.h"

#include <cstdio>
#include <cstring>

namespace gainz::vulkan {

namespace {

constexpr uint64_t kMaxCacheBytes = 256ull << 20;
constexpr uint64_t kCacheMagic = 0x31306b76'7a6e6961ull;  // of this layout

// Before the driver's bytes in the host's cache.
struct CacheHeader {
  uint64_t magic, num_bytes, hash;
  uint8_t uuid[VK_UUID_SIZE];
};

// FNV-1a (Fowler, Noll, Vo), 64 bits: against damage, not against malice.
uint64_t hash_of(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3ull;
  return hash;
}

}  // namespace

Pipelines::~Pipelines() {
  const DeviceApi& vk = context_.api();
  for (const auto& [key, pipeline] : pipelines_) vk.DestroyPipeline(context_.device(), pipeline, nullptr);
  for (const auto& [key, module] : modules_) vk.DestroyShaderModule(context_.device(), module, nullptr);
  if (cache_ != VK_NULL_HANDLE) vk.DestroyPipelineCache(context_.device(), cache_, nullptr);
  if (layout_ != VK_NULL_HANDLE) vk.DestroyPipelineLayout(context_.device(), layout_, nullptr);
  if (set_layout_ != VK_NULL_HANDLE) vk.DestroyDescriptorSetLayout(context_.device(), set_layout_, nullptr);
}

Status Pipelines::create() {
  const DeviceApi& vk = context_.api();
  VkDescriptorSetLayoutBinding bindings[kNumBindings]{};
  for (uint32_t b = 0; b < kNumBindings; ++b)
    bindings[b] = {b, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  const VkDescriptorSetLayoutCreateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, kNumBindings,
                                             bindings};
  GAINZ_VK_TRY(vk.CreateDescriptorSetLayout(context_.device(), &sets, nullptr, &set_layout_), "a descriptor layout");
  const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, kPushWords * 4};
  const VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, nullptr, 0, 1, &set_layout_, 1, &push};
  GAINZ_VK_TRY(vk.CreatePipelineLayout(context_.device(), &layout, nullptr, &layout_), "a pipeline layout");
  const std::vector<uint8_t> kept = load_cache();
  const VkPipelineCacheCreateInfo cache{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, nullptr, 0, kept.size(), kept.data()};
  GAINZ_VK_TRY(vk.CreatePipelineCache(context_.device(), &cache, nullptr, &cache_), "a pipeline cache");
  return {};
}

// Bytes behind a checked header; none where the host keeps none or they are not what was stored. Drivers check less.
std::vector<uint8_t> Pipelines::load_cache() {
  const gainz_host& host = context_.host();
  const void* extension =
      host.get_extension == nullptr ? nullptr : host.get_extension(host.ctx, GAINZ_EXT_CACHE, GAINZ_EXT_CACHE_REVISION);
  if (extension == nullptr || !sdk::read_struct(extension, &kept_, "gainz_cache").ok() || kept_.load == nullptr ||
      kept_.store == nullptr) {
    kept_ = {};
    return {};
  }
  const VkPhysicalDeviceProperties& p = context_.candidate().properties;
  char key[64];
  std::snprintf(key, sizeof key, "vulkan-%08x-%08x-%08x", p.vendorID, p.deviceID, p.driverVersion);
  key_ = key;
  uint64_t size = 0;
  if (kept_.load(kept_.ctx, key, nullptr, 0, &size) != GAINZ_STATUS_OK || size <= sizeof(CacheHeader) || size > kMaxCacheBytes)
    return {};
  std::vector<uint8_t> bytes(size);
  CacheHeader header;
  if (kept_.load(kept_.ctx, key, bytes.data(), size, &size) != GAINZ_STATUS_OK || size != bytes.size()) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.erase(bytes.begin(), bytes.begin() + sizeof header);
  const bool fits = header.magic == kCacheMagic && header.num_bytes == bytes.size() && header.hash == hash_of(bytes) &&
                    std::memcmp(header.uuid, p.pipelineCacheUUID, sizeof header.uuid) == 0;
  if (!fits) context_.log(GAINZ_LOG_INFO, "the kept pipelines are not of this driver, or damaged; they are compiled anew");
  return fits ? bytes : std::vector<uint8_t>();
}

void Pipelines::save() {
  if (kept_.store == nullptr || !has_news_) return;
  const DeviceApi& vk = context_.api();
  size_t size = 0;
  if (vk.GetPipelineCacheData(context_.device(), cache_, &size, nullptr) != VK_SUCCESS || size > kMaxCacheBytes) return;
  std::vector<uint8_t> data(size);
  if (vk.GetPipelineCacheData(context_.device(), cache_, &size, data.data()) != VK_SUCCESS) return;
  data.resize(size);
  CacheHeader header{kCacheMagic, data.size(), hash_of(data), {}};
  std::memcpy(header.uuid, context_.candidate().properties.pipelineCacheUUID, sizeof header.uuid);
  std::vector<uint8_t> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes.insert(bytes.end(), data.begin(), data.end());
  if (kept_.store(kept_.ctx, key_.c_str(), bytes.data(), bytes.size()) == GAINZ_STATUS_OK) has_news_ = false;
}

Status Pipelines::get(Shader shader, std::span<const uint32_t> constants, VkPipeline* out) {
  const DeviceApi& vk = context_.api();
  const Tuning& tuning = context_.tuning();
  std::vector<uint32_t> values = {tuning.group_size, tuning.one_subgroup ? 1u : 0u};
  values.insert(values.end(), constants.begin(), constants.end());
  VkPipeline& pipeline = pipelines_[{shader, values}];
  *out = pipeline;
  if (pipeline != VK_NULL_HANDLE) return {};

  VkShaderModule& module = modules_[shader];
  if (module == VK_NULL_HANDLE) {
    const std::span<const uint32_t> words = shader_words(shader);
    const VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words.size_bytes(),
                                        words.data()};
    GAINZ_VK_TRY(vk.CreateShaderModule(context_.device(), &info, nullptr, &module), "a shader module");
  }
  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < values.size(); ++i) entries.push_back({i, i * 4, 4});
  const VkSpecializationInfo special{static_cast<uint32_t>(entries.size()), entries.data(), values.size() * 4, values.data()};
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  subgroup.requiredSubgroupSize = tuning.group_size;
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &special;
  if (tuning.one_subgroup) {
    info.stage.pNext = &subgroup;
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  info.layout = layout_;
  GAINZ_VK_TRY(vk.CreateComputePipelines(context_.device(), cache_, 1, &info, nullptr, &pipeline), "a pipeline");
  has_news_ = true;
  *out = pipeline;
  return {};
}

}  // namespace gainz::vulkan
