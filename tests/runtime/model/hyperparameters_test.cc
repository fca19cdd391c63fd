#include "model/hyperparameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "model/architecture.h"
#include "model/limits.h"
#include "runtime/model/model_files.h"

namespace gainz {
namespace {

using namespace gainz::test;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Hostile {
  const char* name;
  std::function<void(GgufWriter&)> change;
  std::vector<const char*> named;  // key and value, in the message
};

const Hostile kHostile[] = {
    {"no_layers", [](GgufWriter& f) { set_u32(f, "llama.block_count", 0); }, {"llama.block_count is 0", "1 to 1024"}},
    {"many_layers",
     [](GgufWriter& f) { set_u32(f, "llama.block_count", kMaxModelLayers + 1); },
     {"llama.block_count is 1025", "1 to 1024"}},
    {"more_layers_than_tensors",
     [](GgufWriter& f) { set_u32(f, "llama.block_count", 3); },
     {"blk.2.attn_norm.weight is missing"}},
    {"text_layers", [](GgufWriter& f) { set_string(f, "llama.block_count", "2"); }, {"llama.block_count"}},
    {"missing_layers", [](GgufWriter& f) { f.remove("llama.block_count"); }, {"llama.block_count"}},
    {"missing_context", [](GgufWriter& f) { f.remove("llama.context_length"); }, {"llama.context_length"}},
    {"missing_embedding", [](GgufWriter& f) { f.remove("llama.embedding_length"); }, {"llama.embedding_length"}},
    {"missing_heads", [](GgufWriter& f) { f.remove("llama.attention.head_count"); }, {"llama.attention.head_count"}},
    {"missing_epsilon", [](GgufWriter& f) { f.remove("llama.attention.layer_norm_rms_epsilon"); }, {"layer_norm_rms_epsilon"}},
    {"missing_feed_forward", [](GgufWriter& f) { f.remove("llama.feed_forward_length"); }, {"llama.feed_forward_length"}},
    {"no_context", [](GgufWriter& f) { set_u32(f, "llama.context_length", 0); }, {"llama.context_length is 0"}},
    {"long_context",
     [](GgufWriter& f) { set_u32(f, "llama.context_length", uint32_t(kMaxModelContext) + 1); },
     {"context_length is 1073741825"}},
    {"wide_embedding",
     [](GgufWriter& f) { set_u32(f, "llama.embedding_length", uint32_t(kMaxModelEmbedding) + 1); },
     {"embedding_length is 1048577"}},
    {"wide_feed_forward",
     [](GgufWriter& f) { set_u32(f, "llama.feed_forward_length", uint32_t(kMaxModelFeedForward) + 1); },
     {"feed_forward_length is 4194305"}},
    {"billion_heads",
     [](GgufWriter& f) { set_u32(f, "llama.attention.head_count", 1000000000); },
     {"head_count is 1000000000", "1 to 4096"}},
    {"no_heads", [](GgufWriter& f) { set_u32(f, "llama.attention.head_count", 0); }, {"head_count is 0"}},
    {"no_kv_heads", [](GgufWriter& f) { set_u32(f, "llama.attention.head_count_kv", 0); }, {"head_count_kv is 0"}},
    {"kv_heads_do_not_divide",
     [](GgufWriter& f) { set_u32(f, "llama.attention.head_count_kv", 3); },
     {"head_count is 4", "head_count_kv 3"}},
    {"kv_array_short",
     [](GgufWriter& f) { set_array(f, "llama.attention.head_count_kv", {2}); },
     {"head_count_kv is an array of 1", "2 layers"}},
    {"kv_array_empty",
     [](GgufWriter& f) { set_array(f, "llama.attention.head_count_kv", {}); },
     {"head_count_kv is an array of 0"}},
    {"kv_array_zero",
     [](GgufWriter& f) {
       set_array(f, "llama.attention.head_count_kv", {2, 0});
     },
     {"head_count_kv is an array of 2", "[2, 0]", "1 to 4096"}},
    {"kv_text", [](GgufWriter& f) { set_string(f, "llama.attention.head_count_kv", "two"); }, {"head_count_kv"}},
    {"heads_do_not_divide",
     [](GgufWriter& f) { set_u32(f.remove("llama.attention.key_length"), "llama.attention.head_count", 6); },
     {"head_count is 6", "embedding_length 32"}},
    {"wide_head",
     [](GgufWriter& f) { set_u32(f, "llama.attention.key_length", uint32_t(kMaxModelHeadDim) + 1); },
     {"key_length is 4097"}},
    {"no_value_length", [](GgufWriter& f) { set_u32(f, "llama.attention.value_length", 0); }, {"value_length is 0"}},
    {"nan_epsilon",
     [](GgufWriter& f) { set_f32(f, "llama.attention.layer_norm_rms_epsilon", kNan); },
     {"layer_norm_rms_epsilon is nan"}},
    {"negative_epsilon",
     [](GgufWriter& f) { set_f32(f, "llama.attention.layer_norm_rms_epsilon", -1e-5f); },
     {"layer_norm_rms_epsilon is -1e-05"}},
    {"big_epsilon",
     [](GgufWriter& f) { set_f32(f, "llama.attention.layer_norm_rms_epsilon", 1.5f); },
     {"layer_norm_rms_epsilon is 1.5"}},
    {"nan_scale", [](GgufWriter& f) { f.f32("llama.attention.scale", kNan); }, {"attention.scale is nan"}},
    {"odd_rope", [](GgufWriter& f) { f.u32("llama.rope.dimension_count", 5); }, {"rope.dimension_count is 5", "even"}},
    {"wide_rope",
     [](GgufWriter& f) { f.u32("llama.rope.dimension_count", 10); },
     {"rope.dimension_count is 10", "the head's 8"}},
    {"no_rope", [](GgufWriter& f) { f.u32("llama.rope.dimension_count", 0); }, {"rope.dimension_count is 0"}},
    {"rope_base_one", [](GgufWriter& f) { set_f32(f, "llama.rope.freq_base", 1.0f); }, {"rope.freq_base is 1"}},
    {"rope_base_infinite", [](GgufWriter& f) { set_f32(f, "llama.rope.freq_base", kInfinity); }, {"rope.freq_base is inf"}},
    {"rope_factor_nan", [](GgufWriter& f) { f.f32("llama.rope.scaling.factor", kNan); }, {"rope.scaling.factor is nan"}},
    {"rope_factor_big", [](GgufWriter& f) { f.f32("llama.rope.scaling.factor", 2e6f); }, {"rope.scaling.factor is 2e+06"}},
    {"rope_scaling_type",
     [](GgufWriter& f) { f.string("llama.rope.scaling.type", "longrope"); },
     {"rope.scaling.type is longrope", "yarn"}},
    {"llama3_without_factors",
     [](GgufWriter& f) { f.string("llama.rope.scaling.type", "llama3"); },
     {"llama3", "rope_freqs.weight is missing"}},
    {"yarn_beta",
     [](GgufWriter& f) { f.string("llama.rope.scaling.type", "yarn").f32("llama.rope.scaling.yarn_beta_fast", 0); },
     {"yarn_beta_fast is 0"}},
    {"attn_factor_without_yarn",
     [](GgufWriter& f) { f.f32("llama.rope.scaling.attn_factor", 2); },
     {"rope.scaling.attn_factor is 2"}},
    {"vocab_size", [](GgufWriter& f) { f.u32("llama.vocab_size", 49); }, {"vocab_size is 49", "48 rows"}},
    {"more_tokens_than_rows",
     [](GgufWriter& f) { f.strings("tokenizer.ggml.tokens", std::vector<std::string>(49, "x")); },
     {"tokenizer.ggml.tokens has 49", "48 rows"}},
    {"not_causal", [](GgufWriter& f) { f.boolean("llama.attention.causal", false); }, {"attention.causal is false"}},
    {"alibi", [](GgufWriter& f) { f.f32("llama.attention.max_alibi_bias", 8); }, {"max_alibi_bias is 8"}},
    {"experts", [](GgufWriter& f) { f.u32("llama.expert_count", 8); }, {"llama.expert_count is 8", "only 0"}},
    {"unknown_key",
     [](GgufWriter& f) { f.u32("llama.attention.new_thing", 1); },
     {"key llama.attention.new_thing is not known"}},
    {"no_architecture", [](GgufWriter& f) { f.remove("general.architecture"); }, {"general.architecture"}},
    {"unknown_architecture",
     [](GgufWriter& f) { set_string(f, "general.architecture", "mamba"); },
     {"architecture mamba is not known", "gemma3, llama, qwen2, qwen3, qwen3moe"}},
};

class HostileKeys : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileKeys, AreRefusedByKeyAndValue) {
  GgufWriter file = model_file("llama", {});
  ASSERT_TRUE(build_status(file).ok()) << build_status(file).message();
  GetParam().change(file);
  const Status status = build_status(file);
  EXPECT_TRUE(status.code() == Code::invalid || status.code() == Code::unsupported) << status.message();
  for (const char* part : GetParam().named) EXPECT_THAT(status.message(), HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(Hyperparameters, HostileKeys, ::testing::ValuesIn(kHostile),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(Hyperparameters, TooManyPageGroups) {
  FileShape shape;
  shape.num_heads = 64;
  shape.num_layers = uint32_t(kMaxModelPageGroups) + 1;
  GgufWriter file = model_file("llama", shape);
  std::vector<uint32_t> heads(shape.num_layers), kv_heads(shape.num_layers);
  for (uint32_t i = 0; i < shape.num_layers; ++i) heads[i] = kv_heads[i] = i + 1;
  set_array(set_array(file, "llama.attention.head_count", heads), "llama.attention.head_count_kv", kv_heads);
  const Status status = build_status(file);
  EXPECT_EQ(status.code(), Code::limit_exceeded);
  EXPECT_THAT(status.message(), HasSubstr("17 combinations"));
}

TEST(Hyperparameters, TooLargeVocabulary) {
  FileShape shape;
  shape.embedding = 1;
  GgufWriter file = model_file("llama", shape);
  // Rows of one number: 64 MiB of zeros cross the limit.
  for (auto& tensor : file.tensors) {
    if (tensor.name != "token_embd.weight") continue;
    tensor.dims = {1, kMaxModelVocab + 1};
    tensor.data.assign((kMaxModelVocab + 1) * sizeof(float), std::byte{0});
  }
  const Status status = build_status(file);
  EXPECT_EQ(status.code(), Code::limit_exceeded);
  EXPECT_THAT(status.message(), HasSubstr("16777217 rows"));
}

TEST(Hyperparameters, NeutralKeysAreTaken) {
  GgufWriter file = model_file("llama", {});
  file.boolean("llama.attention.causal", true)
      .u32("llama.expert_count", 0)
      .f32("llama.attention.clamp_kqv", 0)
      .boolean("llama.use_parallel_residual", false);
  file.string("llama.tensor_data_layout", "Meta AI original pth").u32("llama.vocab_size", 48).f32("llama.logit_scale", 1);
  EXPECT_TRUE(build_status(file).ok()) << build_status(file).message();
}

}  // namespace
}  // namespace gainz
