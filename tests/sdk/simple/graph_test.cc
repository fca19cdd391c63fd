// Broken graphs are INVALID with the node's name; nothing crashes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "gainz/sdk/reference_backend.h"
#include "support/plugin_harness.h"

namespace gainz::test {
namespace {

class Graphs : public ::testing::Test {
 protected:
  TestHost host_;
  Plugin plugin_{host_, gainz_reference_query};
  Device device_{plugin_};
  ErrorText error_;

  gainz_status claim(GraphBuilder& g) {
    std::vector<uint8_t> claims(g.nodes().size() + 1);
    return device_->model_claim(device_.get(), g.graph(), claims.data(), error_.get());
  }
};

gainz_node* find(GraphBuilder& g, uint32_t op) {
  for (gainz_node& node : g.nodes()) {
    if (node.op == op) return &node;
  }
  return nullptr;
}
template <class Attr>
Attr* attributes(GraphBuilder& g, uint32_t op) {
  return static_cast<Attr*>(const_cast<void*>(find(g, op)->attributes));
}

TEST_F(Graphs, WholeOnesAreClaimed) {
  for (const ToyShape& shape : {ToyShape{}, ToyShape{.window = 8, .qk_norm = true}, ToyShape{.num_experts = 4}}) {
    GraphBuilder g;
    build_toy(&g, shape);
    EXPECT_EQ(claim(g), GAINZ_STATUS_OK) << error_.text();
  }
}

TEST_F(Graphs, EachBrokenOneIsInvalid) {
  using Break = std::function<void(GraphBuilder&)>;
  const std::pair<const char*, Break> breaks[] = {
      {"value kind", [](GraphBuilder& g) { g.values()[0].kind = 9; }},
      {"value type", [](GraphBuilder& g) { g.values()[1].type = GAINZ_TYPE_F16; }},
      {"value rows", [](GraphBuilder& g) { g.values()[1].rows = 7; }},
      {"no columns", [](GraphBuilder& g) { g.values()[1].dims[0] = 0; }},
      {"huge weight", [](GraphBuilder& g) { g.values()[0].dims[1] = 1ull << 40; }},
      {"product overflows",
       [](GraphBuilder& g) {
         for (auto& d : g.values()[0].dims) d = 1u << 30;
       }},
      {"input index", [](GraphBuilder& g) { g.nodes()[1].inputs[0] = 100000; }},
      {"output index", [](GraphBuilder& g) { g.nodes()[1].outputs[0] = 100000; }},
      {"too many inputs", [](GraphBuilder& g) { g.nodes()[1].num_inputs = 7; }},
      {"too many outputs", [](GraphBuilder& g) { g.nodes()[1].num_outputs = 3; }},
      {"no inputs", [](GraphBuilder& g) { g.nodes()[0].num_inputs = 0; }},
      {"used before it is made", [](GraphBuilder& g) { std::swap(g.nodes()[0], g.nodes()[1]); }},
      {"made twice", [](GraphBuilder& g) { g.nodes()[2].outputs[0] = g.nodes()[1].outputs[0]; }},
      {"no attributes", [](GraphBuilder& g) { find(g, GAINZ_OP_RMSNORM)->attributes = nullptr; }},
      {"struct_size", [](GraphBuilder& g) { g.nodes()[0].struct_size = 2; }},
      {"struct beyond the stride", [](GraphBuilder& g) { g.nodes()[0].struct_size = 4096; }},
      {"epsilon", [](GraphBuilder& g) { attributes<gainz_norm_attr>(g, GAINZ_OP_RMSNORM)->epsilon = NAN; }},
      {"groups", [](GraphBuilder& g) { attributes<gainz_norm_attr>(g, GAINZ_OP_RMSNORM)->num_groups = 7; }},
      {"rope mode", [](GraphBuilder& g) { attributes<gainz_rope_attr>(g, GAINZ_OP_ROPE)->mode = 3; }},
      {"odd rotary_dim", [](GraphBuilder& g) { attributes<gainz_rope_attr>(g, GAINZ_OP_ROPE)->rotary_dim = 7; }},
      {"rotary_dim beyond the head", [](GraphBuilder& g) { attributes<gainz_rope_attr>(g, GAINZ_OP_ROPE)->rotary_dim = 34; }},
      {"rope heads", [](GraphBuilder& g) { attributes<gainz_rope_attr>(g, GAINZ_OP_ROPE)->num_heads = 5; }},
      {"yarn", [](GraphBuilder& g) { attributes<gainz_rope_attr>(g, GAINZ_OP_ROPE)->yarn_mix = 1; }},
      {"group", [](GraphBuilder& g) { attributes<gainz_attention_attr>(g, GAINZ_OP_KV_WRITE)->group = 4; }},
      {"layer", [](GraphBuilder& g) { attributes<gainz_attention_attr>(g, GAINZ_OP_KV_WRITE)->layer = 2; }},
      {"kv heads", [](GraphBuilder& g) { attributes<gainz_attention_attr>(g, GAINZ_OP_KV_WRITE)->num_kv_heads = 4; }},
      {"heads", [](GraphBuilder& g) { attributes<gainz_attention_attr>(g, GAINZ_OP_ATTENTION)->num_heads = 3; }},
      {"window beyond the group's", [](GraphBuilder& g) { g.groups()[0].window = 8; }},
      {"empty group", [](GraphBuilder& g) { g.groups()[0].num_layers = 0; }},
      {"nothing was stored", [](GraphBuilder& g) { attributes<gainz_attention_attr>(g, GAINZ_OP_KV_WRITE)->layer = 1; }},
      {"activation kind", [](GraphBuilder& g) { attributes<gainz_activation_attr>(g, GAINZ_OP_GATED_ACTIVATION)->kind = 6; }},
      {"linear's k", [](GraphBuilder& g) { g.values()[find(g, GAINZ_OP_LINEAR)->inputs[1]].dims[0] = 32; }},
      {"rows of linear's output",
       [](GraphBuilder& g) { g.values()[find(g, GAINZ_OP_LINEAR)->outputs[0]].rows = GAINZ_ROWS_OUTPUTS; }},
      {"an absent input", [](GraphBuilder& g) { find(g, GAINZ_OP_LINEAR)->inputs[1] = GAINZ_NO_VALUE; }},
      {"a weight as an activation", [](GraphBuilder& g) { find(g, GAINZ_OP_ADD)->inputs[1] = 0; }},
      {"an output of kind WEIGHT", [](GraphBuilder& g) { g.output(0); }},
  };
  for (const auto& [name, breaks_it] : breaks) {
    GraphBuilder g;
    build_toy(&g);
    breaks_it(g);
    EXPECT_EQ(claim(g), GAINZ_STATUS_INVALID) << name;
  }
}

TEST_F(Graphs, BrokenMoeIsInvalid) {
  const std::pair<const char*, std::function<void(GraphBuilder&)>> breaks[] = {
      {"k of route", [](GraphBuilder& g) { attributes<gainz_moe_route_attr>(g, GAINZ_OP_MOE_ROUTE)->num_chosen = 9; }},
      {"normalize", [](GraphBuilder& g) { attributes<gainz_moe_route_attr>(g, GAINZ_OP_MOE_ROUTE)->normalize = 2; }},
      {"k of linear", [](GraphBuilder& g) { attributes<gainz_moe_linear_attr>(g, GAINZ_OP_MOE_LINEAR)->num_chosen = 3; }},
      {"rows per token",
       [](GraphBuilder& g) { attributes<gainz_moe_linear_attr>(g, GAINZ_OP_MOE_LINEAR)->rows_per_token = 3; }},
      {"ids that are no ids",
       [](GraphBuilder& g) { find(g, GAINZ_OP_MOE_LINEAR)->inputs[1] = find(g, GAINZ_OP_MOE_ROUTE)->outputs[1]; }},
  };
  for (const auto& [name, breaks_it] : breaks) {
    GraphBuilder g;
    build_toy(&g, {.num_experts = 4});
    breaks_it(g);
    EXPECT_EQ(claim(g), GAINZ_STATUS_INVALID) << name;
  }
}

TEST_F(Graphs, UnknownOpsAndTypesAreLeftToTheHost) {
  GraphBuilder g;
  build_toy(&g);
  find(g, GAINZ_OP_ADD)->op = 77;
  g.values()[0].type = 16;  // IQ2_XXS: the embedding
  std::vector<uint8_t> claims(g.nodes().size());
  ASSERT_EQ(device_->model_claim(device_.get(), g.graph(), claims.data(), error_.get()), GAINZ_STATUS_OK) << error_.text();
  EXPECT_EQ(claims[0], 0);
  for (size_t i = 1; i < claims.size(); ++i) EXPECT_EQ(claims[i], g.nodes()[i].op == 77 ? 0 : 1);
}

TEST_F(Graphs, TooManyNodesAreRefusedUnread) {
  GraphBuilder g;
  build_toy(&g);
  gainz_graph graph = *g.graph();
  uint8_t claim = 0;
  graph.num_nodes = (1u << 20) + 1;
  EXPECT_EQ(device_->model_claim(device_.get(), &graph, &claim, error_.get()), GAINZ_STATUS_INVALID);
  graph.num_nodes = 0;
  EXPECT_EQ(device_->model_claim(device_.get(), &graph, &claim, error_.get()), GAINZ_STATUS_INVALID);
  EXPECT_EQ(device_->model_claim(device_.get(), nullptr, &claim, error_.get()), GAINZ_STATUS_INVALID);
}

TEST_F(Graphs, AWeightOfAnotherSizeIsInvalid) {
  GraphBuilder g;
  const uint32_t x = g.input("x", 8);
  g.output(g.node(GAINZ_OP_LINEAR, {x, g.weight("short", GAINZ_TYPE_F32, {8, 4}, std::vector<uint8_t>(127))}, {4}));
  gainz_model* model = nullptr;
  EXPECT_EQ(device_->model_create(device_.get(), g.graph(), g.weights(), &model, error_.get()), GAINZ_STATUS_INVALID);
  EXPECT_NE(error_.text().find("short"), std::string::npos) << error_.text();
}

TEST_F(Graphs, AnUnalignedFileStillServes) {
  GraphBuilder g;
  g.output(g.node(GAINZ_OP_MUL, {g.input("x", 3), g.weight_f32("w", {3}, {2, 3, 4})}, {3}));
  struct Odd {
    alignas(8) char bytes[16] = {};
  } odd;
  std::memcpy(odd.bytes + 1, g.weight_bytes(1).data(), 12);
  gainz_weights weights{};
  weights.struct_size = sizeof weights;
  weights.ctx = &odd;
  weights.map = [](void* ctx, uint32_t, const void** out_bytes, uint64_t* out_num_bytes, gainz_error*) -> gainz_status {
    *out_bytes = static_cast<Odd*>(ctx)->bytes + 1;
    *out_num_bytes = 12;
    return GAINZ_STATUS_OK;
  };
  gainz_model* model = nullptr;
  ASSERT_EQ(device_->model_create(device_.get(), g.graph(), &weights, &model, error_.get()), GAINZ_STATUS_OK) << error_.text();
  gainz_program* program = nullptr;
  const gainz_bucket bucket{sizeof bucket, 1, 1, 0, 1, 0};
  ASSERT_EQ(device_->program_create(device_.get(), model, nullptr, &bucket, &program, error_.get()), GAINZ_STATUS_OK)
      << error_.text();
  float x[3] = {1, 1, 1}, y[3] = {};
  const int32_t position = 0;
  const uint32_t offsets[2] = {0, 1}, context = 1;
  const gainz_buffer in{sizeof in, 0, x, 0}, out{sizeof out, 0, y, 0};
  gainz_step step{};
  step.struct_size = sizeof step;
  step.num_tokens = step.num_sequences = 1;
  step.positions = &position;
  step.query_offsets = offsets;
  step.context_lengths = &context;
  step.inputs = &in;
  step.outputs = &out;
  step.buffer_stride = sizeof in;
  uint64_t ticket = 0;
  ASSERT_EQ(device_->run(device_.get(), program, &step, 0, 1, &ticket, error_.get()), GAINZ_STATUS_OK) << error_.text();
  EXPECT_EQ(y[2], 4);
}

}  // namespace
}  // namespace gainz::test
