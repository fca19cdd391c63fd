#include "model/architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/model/model_files.h"

namespace gainz {
namespace {

using namespace gainz::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file's graph, with the bytes it stands on.
struct Built {
  explicit Built(const GgufWriter& file) : bytes(file.bytes()) {
    auto parsed = Gguf::parse(bytes, {});
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    gguf = *parsed;
    auto built = build_model(*gguf);
    EXPECT_TRUE(built.ok()) << built.status().message();
    if (built.ok()) blueprint = std::make_unique<Blueprint>(std::move(built).value());
  }
  const gainz_graph& graph() const { return *blueprint->graph.view(); }
  template <class Attributes>
  std::vector<Attributes> attributes(uint32_t op) const {
    std::vector<Attributes> out;
    for (uint32_t i = 0; i < graph().num_nodes; ++i)
      if (graph().nodes[i].op == op) out.push_back(*static_cast<const Attributes*>(graph().nodes[i].attributes));
    return out;
  }
  std::vector<uint32_t> windows() const {
    std::vector<uint32_t> out;
    for (const auto& a : attributes<gainz_attention_attr>(GAINZ_OP_ATTENTION)) out.push_back(a.window);
    return out;
  }
  gainz_rope_attr rope(size_t i = 0) const { return attributes<gainz_rope_attr>(GAINZ_OP_ROPE)[i]; }

  Bytes bytes;
  std::shared_ptr<const Gguf> gguf;
  std::unique_ptr<Blueprint> blueprint;
};

FileShape layers(uint32_t num_layers) {
  FileShape shape;
  shape.num_layers = num_layers;
  return shape;
}

TEST(Architecture, ListIsSorted) {
  EXPECT_THAT(known_architectures(), ElementsAre("gemma3", "llama", "qwen2", "qwen3", "qwen3moe"));
}

TEST(Architecture, OutputsAreLogitsThenHiddenOfOutputRows) {
  const Built built(model_file("llama", {}));
  const gainz_graph& graph = built.graph();
  ASSERT_EQ(graph.num_outputs, 2u);
  EXPECT_EQ(graph.values[graph.outputs[0]].dims[0], 48u);
  EXPECT_EQ(graph.values[graph.outputs[1]].dims[0], 32u);
  for (const uint32_t o : {0u, 1u}) EXPECT_EQ(graph.values[graph.outputs[o]].rows, GAINZ_ROWS_OUTPUTS);
  // Rows are gathered before the final norm and the head.
  EXPECT_EQ(graph.nodes[graph.num_nodes - 3].op, GAINZ_OP_GATHER_ROWS);
}

TEST(Architecture, LlamaRopePairsLieSideBySide) {
  EXPECT_EQ(Built(model_file("llama", {})).rope().mode, GAINZ_ROPE_INTERLEAVED);
  for (const char* name : {"qwen2", "qwen3", "gemma3"})
    EXPECT_EQ(Built(model_file(name, {})).rope().mode, GAINZ_ROPE_HALVES) << name;
}

TEST(Architecture, LinearScaling) {
  GgufWriter file = model_file("llama", {});
  file.string("llama.rope.scaling.type", "linear").f32("llama.rope.scaling.factor", 4);
  EXPECT_EQ(Built(file).rope().freq_scale, 0.25f);
  set_string(file, "llama.rope.scaling.type", "none");
  EXPECT_EQ(Built(file).rope().freq_scale, 1.0f);
  file.remove("llama.rope.scaling.type");  // a factor alone is linear
  EXPECT_EQ(Built(file).rope().freq_scale, 0.25f);
  file.remove("llama.rope.scaling.factor").f32("llama.rope.scale_linear", 2);
  EXPECT_EQ(Built(file).rope().freq_scale, 0.5f);
}

TEST(Architecture, YarnScaling) {
  GgufWriter file = model_file("qwen2", {});
  file.string("qwen2.rope.scaling.type", "yarn")
      .f32("qwen2.rope.scaling.factor", 4)
      .u32("qwen2.rope.scaling.original_context_length", 64);
  const gainz_rope_attr rope = Built(file).rope();
  EXPECT_EQ(rope.freq_scale, 0.25f);
  EXPECT_EQ(rope.yarn_mix, 1.0f);
  EXPECT_EQ(rope.yarn_beta_fast, 32.0f);
  EXPECT_EQ(rope.yarn_beta_slow, 1.0f);
  EXPECT_EQ(rope.original_context, 64u);
  EXPECT_FLOAT_EQ(rope.magnitude, 1.0f + 0.1f * std::log(4.0f));
  file.f32("qwen2.rope.scaling.attn_factor", 0.5f);
  EXPECT_FLOAT_EQ(Built(file).rope().magnitude, 0.5f * (1.0f + 0.1f * std::log(4.0f)));
}

TEST(Architecture, Llama3FactorsReachEveryRope) {
  GgufWriter file = model_file("llama", {});
  const std::vector<float> factors{1, 2, 4, 8};
  file.tensor_f32("rope_freqs.weight", {4}, factors);
  const Built built(file);
  for (uint32_t i = 0; i < built.graph().num_nodes; ++i) {
    const gainz_node& node = built.graph().nodes[i];
    if (node.op == GAINZ_OP_ROPE) {
      ASSERT_EQ(node.num_inputs, 2u);
    }
  }
}

TEST(Architecture, MistralWindow) {
  GgufWriter file = model_file("llama", {});
  EXPECT_THAT(Built(file).windows(), ElementsAre(0, 0));
  file.u32("llama.attention.sliding_window", 64);
  const Built built(file);
  EXPECT_THAT(built.windows(), ElementsAre(64, 64));
  ASSERT_EQ(built.graph().num_page_groups, 1u);
  EXPECT_EQ(built.graph().page_groups[0].window, 64u);
}

TEST(Architecture, OptionalBiases) {
  GgufWriter file = model_file("llama", {});
  const uint32_t without = Built(file).graph().num_values;
  file.tensor_f32("blk.0.attn_q.bias", {32}, std::vector<float>(32, 1));
  file.tensor_f32("blk.1.ffn_down.bias", {32}, std::vector<float>(32, 1));
  EXPECT_EQ(Built(file).graph().num_values, without + 2);
}

TEST(Architecture, KvHeadsByLayerMakeGroups) {
  GgufWriter file = model_file("llama", layers(1));
  const Built one(file);
  EXPECT_EQ(one.graph().num_page_groups, 1u);
  FileShape wide;
  wide.num_kv_heads = 4;
  GgufWriter two = model_file("llama", wide);
  set_array(two, "llama.attention.head_count_kv", {4, 2});
  for (auto& tensor : two.tensors) {  // layer 1 gets two KV heads
    if (tensor.name != "blk.1.attn_k.weight" && tensor.name != "blk.1.attn_v.weight") continue;
    tensor.dims[1] = 16;
    tensor.data.resize(32 * 16 * sizeof(float));
  }
  const Built built(two);
  ASSERT_EQ(built.graph().num_page_groups, 2u);
  EXPECT_EQ(built.graph().page_groups[1].num_kv_heads, 2u);
  EXPECT_EQ(built.graph().page_groups[1].num_layers, 1u);
}

TEST(Gemma3, EverySixthLayerIsGlobalWithItsOwnRope) {
  GgufWriter file = model_file("gemma3", layers(7));
  set_f32(file, "gemma3.rope.freq_base", 1e6f);
  file.string("gemma3.rope.scaling.type", "linear").f32("gemma3.rope.scaling.factor", 8);
  const Built built(file);
  EXPECT_THAT(built.windows(), ElementsAre(4, 4, 4, 4, 4, 0, 4));
  ASSERT_EQ(built.graph().num_page_groups, 2u);
  EXPECT_EQ(built.graph().page_groups[0].num_layers, 6u);
  EXPECT_EQ(built.graph().page_groups[1].num_layers, 1u);
  EXPECT_EQ(built.rope(0).base, 10000.0f);  // two a layer
  EXPECT_EQ(built.rope(0).freq_scale, 1.0f);
  EXPECT_EQ(built.rope(10).base, 1e6f);
  EXPECT_EQ(built.rope(10).freq_scale, 0.125f);
  EXPECT_EQ(built.attributes<gainz_scale_attr>(GAINZ_OP_SCALE)[0].scale, std::sqrt(32.0f));
}

TEST(Gemma3, PatternAndLocalBaseFromKeys) {
  GgufWriter file = model_file("gemma3", layers(4));
  file.u32("gemma3.attention.sliding_window_pattern", 2).f32("gemma3.rope.freq_base_swa", 5000);
  EXPECT_THAT(Built(file).windows(), ElementsAre(4, 0, 4, 0));
  EXPECT_EQ(Built(file).rope().base, 5000.0f);
  set_array(file, "gemma3.attention.sliding_window_pattern", {0, 1, 1, 0});
  EXPECT_THAT(Built(file).windows(), ElementsAre(0, 4, 4, 0));
  set_array(file, "gemma3.attention.sliding_window_pattern", {0, 1, 1});
  EXPECT_THAT(build_status(file).message(), HasSubstr("sliding_window_pattern is an array of 3"));
  file.remove("gemma3.attention.sliding_window");
  EXPECT_THAT(Built(file).windows(), ElementsAre(0, 0, 0, 0));
}

TEST(Gemma3, QueryScaleAndSoftcaps) {
  GgufWriter file = model_file("gemma3", layers(1));
  file.f32("gemma3.final_logit_softcapping", 30).f32("gemma3.attn_logit_softcapping", 50);
  const Built built(file);
  EXPECT_EQ(built.attributes<gainz_attention_attr>(GAINZ_OP_ATTENTION)[0].scale, 1.0f / std::sqrt(8.0f));
  EXPECT_EQ(built.attributes<gainz_attention_attr>(GAINZ_OP_ATTENTION)[0].softcap, 50.0f);
  EXPECT_EQ(built.attributes<gainz_scale_attr>(GAINZ_OP_SOFTCAP)[0].scale, 30.0f);
  FileShape big = layers(62);  // 27B: the scale of embedding_length / head_count
  big.embedding = 48;
  EXPECT_EQ(Built(model_file("gemma3", big)).attributes<gainz_attention_attr>(GAINZ_OP_ATTENTION)[0].scale,
            1.0f / std::sqrt(12.0f));
  GgufWriter given = model_file("gemma3", big);
  given.f32("gemma3.attention.scale", 0.25f);
  EXPECT_EQ(Built(given).attributes<gainz_attention_attr>(GAINZ_OP_ATTENTION)[0].scale, 0.25f);
}

TEST(Qwen3Moe, KeysAreChecked) {
  FileShape shape;
  shape.num_experts = 4;
  shape.num_used = 2;
  shape.expert_feed_forward = 16;
  const auto refuses = [&](const char* key, uint32_t value, const char* message) {
    GgufWriter file = model_file("qwen3moe", shape);
    set_u32(file, key, value);
    EXPECT_THAT(build_status(file).message(), HasSubstr(message));
  };
  EXPECT_TRUE(build_status(model_file("qwen3moe", shape)).ok());
  refuses("qwen3moe.expert_used_count", 5, "expert_used_count is 5; allowed are 1 to 4");
  refuses("qwen3moe.expert_count", 0, "expert_count is 0");
  refuses("qwen3moe.expert_count", 5000, "expert_count is 5000; allowed are 1 to 4096");
  refuses("qwen3moe.expert_count", 5, "tensor blk.0.ffn_gate_inp.weight has the shape [32, 4]; expected [32, 5]");
  refuses("qwen3moe.expert_gating_func", 2, "expert_gating_func is 2");
  refuses("qwen3moe.expert_shared_count", 1, "expert_shared_count is 1");
  refuses("qwen3moe.expert_feed_forward_length", 0, "expert_feed_forward_length is 0");
}

}  // namespace
}  // namespace gainz
