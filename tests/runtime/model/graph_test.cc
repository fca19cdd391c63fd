#include "model/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace gainz {
namespace {

using ::testing::HasSubstr;

// A graph with the usual values, to which a test adds one node.
struct Values {
  Graph g;
  ValueId table, x, other, rows, matrix, bias, norm, half_norm, ids, experts, q8_bias;
  uint32_t group;
  Values() {
    g.set_layer(3);
    table = g.weight("table", GAINZ_TYPE_F16, {8, 20});
    matrix = g.weight("matrix", GAINZ_TYPE_Q8_0, {8, 6});
    bias = g.weight("bias", GAINZ_TYPE_F32, {6});
    norm = g.weight("norm", GAINZ_TYPE_F32, {8});
    half_norm = g.weight("half_norm", GAINZ_TYPE_F32, {4});
    q8_bias = g.weight("q8_bias", GAINZ_TYPE_F16, {6});
    experts = g.weight("experts", GAINZ_TYPE_F32, {8, 6, 3});
    x = g.embed(table);
    other = g.input("other", GAINZ_TYPE_F32, GAINZ_ROWS_TOKENS, 6);
    ids = g.input("ids", GAINZ_TYPE_I32, GAINZ_ROWS_TOKENS, 2);
    rows = g.gather_rows(x);
    group = g.page_group({0, 2, 1, 4, 4, 16});
  }
  gainz_attention_attr attention() const { return {0, group, 0, 2, 1, 4, 4, 16, 0.5f, 0}; }
  gainz_rope_attr rope() const { return {0, GAINZ_ROPE_HALVES, 2, 4, 4, 0, 1e4f, 1, 0, 0, 0, 1}; }
};

struct Wrong {
  const char* name;
  std::function<void(Values&)> add;
  const char* message;
};

const Wrong kWrong[] = {
    {"embed_absent", [](Values& v) { v.g.embed(kNoValue); }, "embed in layer 3: w is absent"},
    {"embed_activation", [](Values& v) { v.g.embed(v.x); }, "embed in layer 3: w is embed [T, 8], not a weight"},
    {"rmsnorm_length", [](Values& v) { v.g.rmsnorm(v.x, v.half_norm, 1e-5f); }, "w is half_norm [4, 1], not rows of 8"},
    {"rmsnorm_groups", [](Values& v) { v.g.rmsnorm(v.x, kNoValue, 1e-5f, 3); }, "3 groups do not divide 8 columns"},
    {"rmsnorm_no_group", [](Values& v) { v.g.rmsnorm(v.x, kNoValue, 1e-5f, 0); }, "0 groups"},
    {"rmsnorm_epsilon", [](Values& v) { v.g.rmsnorm(v.x, v.norm, std::nanf("")); }, "epsilon"},
    {"layernorm_bias", [](Values& v) { v.g.layernorm(v.x, v.norm, v.bias, 1e-5f); }, "b is bias [6, 1], not rows of 8"},
    {"layernorm_epsilon", [](Values& v) { v.g.layernorm(v.x, v.norm, kNoValue, -1); }, "epsilon"},
    {"linear_columns", [](Values& v) { v.g.linear(v.other, v.matrix); }, "w is matrix [8, 6], not rows of 6"},
    {"linear_bias", [](Values& v) { v.g.linear(v.x, v.matrix, v.norm); }, "b is norm [8, 1], not rows of 6"},
    {"linear_bias_type", [](Values& v) { v.g.linear(v.x, v.matrix, v.q8_bias); }, "b is q8_bias [6, 1], not f32"},
    {"linear_experts", [](Values& v) { v.g.linear(v.x, v.experts); }, "not 1 matrices"},
    {"linear_ids", [](Values& v) { v.g.linear(v.ids, v.matrix); }, "x is ids [T, 2], not an f32 activation"},
    {"rope_odd",
     [](Values& v) {
       auto a = v.rope();
       a.rotary_dim = 3;
       v.g.rope(v.x, a);
     },
     "rotary_dim 3"},
    {"rope_beyond",
     [](Values& v) {
       auto a = v.rope();
       a.rotary_dim = 6;
       v.g.rope(v.x, a);
     },
     "beyond head_dim 4"},
    {"rope_mode",
     [](Values& v) {
       auto a = v.rope();
       a.mode = 9;
       v.g.rope(v.x, a);
     },
     "mode 9"},
    {"rope_heads",
     [](Values& v) {
       auto a = v.rope();
       a.num_heads = 3;
       v.g.rope(v.x, a);
     },
     "not 12 columns"},
    {"rope_base",
     [](Values& v) {
       auto a = v.rope();
       a.base = 0;
       v.g.rope(v.x, a);
     },
     "base"},
    {"rope_factors", [](Values& v) { v.g.rope(v.x, v.rope(), v.norm); }, "factors is norm [8, 1], not rows of 2"},
    {"rope_rows", [](Values& v) { v.g.rope(v.rows, v.rope()); }, "not T rows"},
    {"kv_group",
     [](Values& v) {
       auto a = v.attention();
       a.group = 1;
       v.g.kv_write(v.x, v.x, a);
     },
     "no page group 1"},
    {"kv_layer",
     [](Values& v) {
       auto a = v.attention();
       a.layer = 2;
       v.g.kv_write(v.x, v.x, a);
     },
     "layer 2 of a page group of 2"},
    {"kv_heads",
     [](Values& v) {
       auto a = v.attention();
       a.num_kv_heads = 2;
       v.g.kv_write(v.x, v.x, a);
     },
     "not those of the page group"},
    {"kv_columns", [](Values& v) { v.g.kv_write(v.x, v.x, v.attention()); }, "k is embed [T, 8], not 4 columns"},
    {"attention_alone", [](Values& v) { v.g.attention(v.x, v.attention()); }, "not the kv_write of its page group"},
    {"activation_kind", [](Values& v) { v.g.activation(v.x, 0); }, "kind 0"},
    {"gated_columns", [](Values& v) { v.g.gated_activation(v.x, v.other, GAINZ_ACTIVATION_SILU); },
     "up is other [T, 6], not 8 columns"},
    {"add_columns", [](Values& v) { v.g.add(v.x, v.other); }, "b is other [T, 6], not 8 columns"},
    {"add_rows", [](Values& v) { v.g.add(v.x, v.rows); }, "not T rows"},
    {"mul_weight", [](Values& v) { v.g.mul(v.x, v.bias); }, "b is bias [6, 1], not rows of 8"},
    {"scale", [](Values& v) { v.g.scale(v.x, std::nanf("")); }, "not finite"},
    {"softcap", [](Values& v) { v.g.softcap(v.x, 0); }, "not above 0"},
    {"route_many", [](Values& v) { v.g.moe_route(v.other, 7, true, 1); }, "7 of 6 experts"},
    {"moe_ids", [](Values& v) { v.g.moe_linear(v.x, v.other, v.experts, 1); }, "ids is other [T, 6], not ids"},
    {"moe_rows", [](Values& v) { v.g.moe_linear(v.x, v.ids, v.experts, 3); }, "3 rows a token, neither 1 nor 2"},
    {"moe_columns", [](Values& v) { v.g.moe_linear(v.x, v.ids, v.experts, 2); }, "not 16 columns"},
    {"moe_weights", [](Values& v) { v.g.moe_linear(v.x, v.ids, v.experts, 1, v.other); },
     "weights is other [T, 6], not 2 columns"},
    {"gather_twice", [](Values& v) { v.g.gather_rows(v.rows); }, "not T rows"},
    {"mask_tokens", [](Values& v) { v.g.logit_mask(v.x); }, "not R rows"},
    {"top_k", [](Values& v) { v.g.top_k(v.rows, 9); }, "9 of 8 columns"},
    {"output_weight", [](Values& v) { v.g.output(v.matrix); }, "matrix [8, 6] is no activation"},
    {"weight_zero", [](Values& v) { v.g.weight("w0", GAINZ_TYPE_F32, {0}); }, "weight w0"},
    {"weight_dims",
     [](Values& v) {
       v.g.weight("w5", GAINZ_TYPE_F32, {1, 1, 1, 1, 1});
     },
     "weight w5"},
    {"input_type", [](Values& v) { v.g.input("i", GAINZ_TYPE_F16, GAINZ_ROWS_TOKENS, 4); }, "input i"},
    {"group_zero",
     [](Values& v) {
       v.g.page_group({0, 0, 1, 4, 4, 0});
     },
     "a size is 0"},
};

class GraphMistake : public ::testing::TestWithParam<Wrong> {};

TEST_P(GraphMistake, IsKeptAndNamed) {
  Values v;
  GetParam().add(v);
  v.g.add(kNoValue, kNoValue);  // what follows does not hide the first mistake
  v.g.output(v.rows);
  const Status status = v.g.finish();
  EXPECT_EQ(status.code(), Code::invalid);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Graph, GraphMistake, ::testing::ValuesIn(kWrong),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(Graph, AttentionChecksWindowHeadsAndScale) {
  const std::function<void(gainz_attention_attr&)> breaks[] = {
      [](auto& a) { a.window = 8; },
      [](auto& a) {
        a.num_heads = 3;
        a.num_kv_heads = 2;
      },
      [](auto& a) { a.scale = std::nanf(""); }, [](auto& a) { a.softcap = -1; }, [](auto& a) { a.num_heads = 3; }};
  for (const auto& make_wrong : breaks) {
    Values v;
    const ValueId k = v.g.input("k", GAINZ_TYPE_F32, GAINZ_ROWS_TOKENS, 4);
    v.g.kv_write(k, k, v.attention());
    gainz_attention_attr attr = v.attention();
    make_wrong(attr);
    EXPECT_EQ(v.g.attention(v.x, attr), kNoValue);
    v.g.output(v.rows);
    EXPECT_EQ(v.g.finish().code(), Code::invalid);
  }
}

TEST(Graph, ViewHoldsWhatWasBuilt) {
  Values v;
  const ValueId k = v.g.input("k", GAINZ_TYPE_F32, GAINZ_ROWS_TOKENS, 4);
  v.g.kv_write(k, k, v.attention());
  const ValueId y = v.g.attention(v.x, v.attention());
  const auto [ids, weights] = v.g.moe_route(v.other, 2, true, 1);
  v.g.set_layer(GAINZ_NO_VALUE);
  const ValueId z = v.g.moe_linear(y, ids, v.experts, 1, weights);
  v.g.output(z);
  ASSERT_TRUE(v.g.finish().ok());
  const Graph moved = std::move(v.g);
  const gainz_graph& graph = *moved.view();
  EXPECT_EQ(graph.num_page_groups, 1u);
  EXPECT_EQ(graph.num_inputs, 3u);
  const gainz_node& last = graph.nodes[graph.num_nodes - 1];
  EXPECT_EQ(last.op, GAINZ_OP_MOE_LINEAR);
  EXPECT_EQ(last.num_inputs, 4u);
  EXPECT_EQ(last.layer, GAINZ_NO_VALUE);
  EXPECT_EQ(static_cast<const gainz_moe_linear_attr*>(last.attributes)->num_chosen, 2u);
  EXPECT_EQ(graph.values[z].dims[0], 6u);
  EXPECT_STREQ(graph.values[v.matrix].name, "matrix");
  EXPECT_EQ(graph.nodes[2].op, GAINZ_OP_KV_WRITE);
  EXPECT_EQ(static_cast<const gainz_attention_attr*>(graph.nodes[2].attributes)->struct_size, sizeof(gainz_attention_attr));
}

TEST(Graph, NeedsANodeAndAnOutput) {
  EXPECT_EQ(Graph().finish().code(), Code::invalid);
  Values v;
  EXPECT_THAT(v.g.finish().message(), HasSubstr("no output"));
}

}  // namespace
}  // namespace gainz
