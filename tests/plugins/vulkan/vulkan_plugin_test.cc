// The plugin "vulkan" on the software device as a host meets it, against the plugin "reference".
#include <cstring>

#include "vulkan_test.h"

namespace gainz::test {
namespace {

// Sums in another order and the driver's exp: what is left of f32. Types that are converted are rounded to f16.
constexpr double kTolerance = 5e-5;
constexpr double kConverted = 2e-3;

ToyShape wide_toy(uint32_t type) {
  return {.vocabulary = 150, .width = 256, .num_heads = 4, .num_kv_heads = 2, .head_dim = 64, .ffn = 512, .weight_type = type};
}

TEST_F(VulkanTest, ListsTheSoftwareDevice) {
  gainz_device_desc descs[4]{};
  for (gainz_device_desc& desc : descs) desc.struct_size = sizeof desc;
  uint32_t count = 0;
  ASSERT_EQ(plugin_->table().device_list(host_.get(), descs, sizeof descs[0], 4, &count, nullptr), GAINZ_STATUS_OK);
  ASSERT_GE(count, 1u);
  EXPECT_THAT(descs[0].name, ::testing::HasSubstr("llvmpipe"));
  EXPECT_THAT(descs[0].isa, ::testing::HasSubstr("vulkan 1."));
  EXPECT_EQ(descs[0].flags & (GAINZ_DEVICE_BATCH_VARIANT | GAINZ_DEVICE_PHASES_DIFFER), 0u);
  EXPECT_GT(descs[0].memory_bytes, 1u << 20);
}

TEST_F(VulkanTest, AnswersAsTheReferenceForEveryWeightType) {
  const std::vector<int32_t> tokens = random_tokens(13, 150, 7);
  for (const uint32_t type :
       {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_BF16, GAINZ_TYPE_Q4_0, GAINZ_TYPE_Q4_1, GAINZ_TYPE_Q5_0, GAINZ_TYPE_Q5_1,
        GAINZ_TYPE_Q8_0, GAINZ_TYPE_Q4_K, GAINZ_TYPE_Q5_K, GAINZ_TYPE_Q6_K, GAINZ_TYPE_IQ4_NL}) {
    const Rows want = answer(*reference_, wide_toy(type), {}, tokens, 13);
    for (const char* profile : profiles())
      EXPECT_LT(worst(answer(*plugin_, wide_toy(type), {}, tokens, 13, {{"profile", profile}}), want), kTolerance)
          << "type " << type << profile;
    if (kSanitized && type == GAINZ_TYPE_Q4_1) break;
  }
}

TEST_F(VulkanTest, ConvertsOtherTypesAndSaysSo) {
  const std::vector<int32_t> tokens = random_tokens(5, 150, 7);
  for (const uint32_t type : {GAINZ_TYPE_Q2_K, GAINZ_TYPE_Q3_K, GAINZ_TYPE_IQ4_XS, GAINZ_TYPE_MXFP4}) {
    log_lines().clear();
    EXPECT_LT(worst(answer(*plugin_, wide_toy(type), {}, tokens, 5), answer(*reference_, wide_toy(type), {}, tokens, 5)),
              kConverted)
        << "type " << type;
    EXPECT_THAT(log_lines(), ::testing::Contains(::testing::HasSubstr("are kept as F16")));
  }
}

TEST_F(VulkanTest, AnswersAsTheReferenceForEveryShapeAndKvType) {
  const std::vector<int32_t> tokens = random_tokens(45, 96, 8);
  const std::vector<ToyShape> shapes = {
      ToyShape{}, ToyShape{.window = 20, .softcap = 30, .qk_norm = true}, ToyShape{.num_experts = 5},
      ToyShape{.vocabulary = 97, .num_heads = 6, .num_kv_heads = 1, .head_dim = 40, .ffn = 70},
      ToyShape{.num_heads = 12, .num_kv_heads = 1, .head_dim = 8}};
  for (const char* profile : profiles()) {
    for (size_t i = 0; i < shapes.size(); ++i)
      EXPECT_LT(worst(answer(*plugin_, shapes[i], {}, tokens, 45, {{"profile", profile}}),
                      answer(*reference_, shapes[i], {}, tokens, 45)),
                kTolerance)
          << i << profile;
    for (const uint32_t type : {GAINZ_TYPE_F16, GAINZ_TYPE_Q8_0}) {
      const RunnerOptions options{.k_type = type, .v_type = type == GAINZ_TYPE_F16 ? GAINZ_TYPE_Q8_0 : GAINZ_TYPE_F16};
      EXPECT_LT(worst(answer(*plugin_, {}, options, tokens, 45, {{"profile", profile}}),
                      answer(*reference_, {}, options, tokens, 45)),
                2e-3)
          << type << profile;
    }
  }
}

}  // namespace
}  // namespace gainz::test
