// Pipelines: one for each shader and set of constants, made when first asked for and kept. One layout serves all: eight storage
// buffers and 128 bytes of push constants. The driver's cache of them lives in the host's, behind a header of ours. Owner: the
// opened device. Threads: [device-thread].
#pragma once

#include <map>
#include <span>
#include <vector>

#include "context.h"
#include "gainz/sdk/ext_cache.h"

namespace gainz::vulkan {

inline constexpr uint32_t kNumBindings = 8;
inline constexpr uint32_t kPushWords = 32;
inline constexpr uint32_t kFirstConstant = 2;  // of a shader's own; 0 and 1 are the workgroup's

// The shaders that the build embeds; see CMakeLists.txt. A shader with formats has one for each, in the order of Format.
enum class Shader : uint32_t {
  kElementwise,
  kNorm,
  kRope,
  kKvWrite,
  kAttention,
  kChoose,
  kEmbed,
  kLinear = kEmbed + 7,
  kCount = kLinear + 7
};
std::span<const uint32_t> shader_words(Shader shader);

class Pipelines {
 public:
  explicit Pipelines(Context& context) : context_(context) {}
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Status create();

  // `constants`: of the shader's constant_id kFirstConstant and up.
  Status get(Shader shader, std::span<const uint32_t> constants, VkPipeline* out);
  // Gives what was compiled to the host's cache (ext_cache.h), where it has one and there is something new.
  void save();
  VkPipelineLayout layout() const { return layout_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }

 private:
  std::vector<uint8_t> load_cache();

  Context& context_;
  gainz_cache kept_{};  // the host's; all zero where there is none
  std::string key_;
  bool has_news_ = false;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::map<Shader, VkShaderModule> modules_;
  std::map<std::pair<Shader, std::vector<uint32_t>>, VkPipeline> pipelines_;
};

}  // namespace gainz::vulkan
