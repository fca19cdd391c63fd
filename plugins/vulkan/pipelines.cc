#include "pipelines.h"

namespace gainz::vulkan {

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
  const VkPipelineCacheCreateInfo cache{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, nullptr, 0, 0, nullptr};
  GAINZ_VK_TRY(vk.CreatePipelineCache(context_.device(), &cache, nullptr, &cache_), "a pipeline cache");
  return {};
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
  *out = pipeline;
  return {};
}

}  // namespace gainz::vulkan
