#include "model/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/architecture.h"
#include "runtime/model/model_files.h"

namespace gainz {
namespace {

using namespace gainz::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct PartitionTest : ::testing::Test {
  PartitionTest() {
    FileShape shape;
    shape.num_layers = 7;
    bytes = model_file("gemma3", shape).bytes();
    file = *Gguf::parse(bytes, {});
    auto built = build_model(*file);
    EXPECT_TRUE(built.ok()) << built.status().message();
    blueprint = std::make_unique<Blueprint>(std::move(built).value());
    graph = blueprint->graph.view();
    claims.assign(graph->num_nodes, 1);
  }
  void leave(uint32_t op, uint32_t layer = UINT32_MAX) {
    for (uint32_t i = 0; i < graph->num_nodes; ++i)
      if (graph->nodes[i].op == op && (layer == UINT32_MAX || graph->nodes[i].layer == layer)) claims[i] = 0;
  }
  Bytes bytes;
  std::shared_ptr<const Gguf> file;
  std::unique_ptr<Blueprint> blueprint;
  const gainz_graph* graph = nullptr;
  std::vector<uint8_t> claims;
};

TEST_F(PartitionTest, WholeGraphIsOnePart) {
  const auto parts = partition(*graph, claims);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_FALSE(parts[0].is_scalar);
  EXPECT_EQ(parts[0].nodes.size(), graph->num_nodes);
  EXPECT_EQ(parts[0].inputs.size(), 0u);
  ASSERT_EQ(parts[0].outputs.size(), 2u);
  EXPECT_EQ(parts[0].groups.size(), 2u);
  EXPECT_EQ(parts[0].groups[0].num_layers, 6u);
  EXPECT_THAT(parts[0].whole_groups, ElementsAre(0, 1));
}

TEST_F(PartitionTest, NodesKeepTheirOrderAndCutValuesAreDeclared) {
  leave(GAINZ_OP_GATED_ACTIVATION);
  leave(GAINZ_OP_KV_WRITE);
  leave(GAINZ_OP_ATTENTION);
  ASSERT_TRUE(check_claims(*graph, claims, "fake").ok());
  const auto parts = partition(*graph, claims);
  EXPECT_EQ(parts.size(), 4u * 7 + 1);
  std::vector<uint8_t> made(graph->num_values, 0);
  size_t node = 0;
  for (const Part& part : parts) {
    for (const uint32_t in : part.inputs) {
      EXPECT_EQ(part.values[in].kind, GAINZ_VALUE_INPUT);
      EXPECT_TRUE(made[part.whole_values[in]]) << "a part reads what no part before it declares";
    }
    for (const gainz_node& n : part.nodes) EXPECT_EQ(n.op, graph->nodes[node++].op);
    for (const uint32_t out : part.outputs) made[part.whole_values[out]] = 1;
  }
  EXPECT_EQ(node, graph->num_nodes);
  for (uint32_t o = 0; o < graph->num_outputs; ++o) EXPECT_TRUE(made[graph->outputs[o]]);
}

TEST_F(PartitionTest, EachPartKeepsThePagesOfItsLayers) {
  leave(GAINZ_OP_GATED_ACTIVATION, 3);
  const auto parts = partition(*graph, claims);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_THAT(parts[0].whole_groups, ElementsAre(0));  // layers 0 to 3: windows
  EXPECT_EQ(parts[0].groups[0].num_layers, 4u);
  EXPECT_TRUE(parts[1].is_scalar);
  EXPECT_TRUE(parts[1].groups.empty());
  EXPECT_THAT(parts[2].whole_groups, ElementsAre(0, 1));  // layers 4, 6 and the global 5
  EXPECT_EQ(parts[2].groups[0].num_layers, 2u);
  EXPECT_EQ(parts[2].groups[1].num_layers, 1u);
  std::vector<std::pair<uint32_t, uint32_t>> seen;
  for (const gainz_node& n : parts[2].nodes) {
    if (n.op != GAINZ_OP_ATTENTION) continue;
    const auto& attr = *static_cast<const gainz_attention_attr*>(n.attributes);
    seen.emplace_back(attr.group, attr.layer);
  }
  EXPECT_THAT(seen, ElementsAre(std::pair(0u, 0u), std::pair(1u, 0u), std::pair(0u, 1u)));
}

TEST_F(PartitionTest, PageGroupsAreClaimedTogether) {
  leave(GAINZ_OP_ATTENTION);
  EXPECT_THAT(check_claims(*graph, claims, "fake").message(),
              HasSubstr("backend fake: it claims only some of the kv_write and attention nodes of page group 0"));
  leave(GAINZ_OP_KV_WRITE);
  EXPECT_TRUE(check_claims(*graph, claims, "fake").ok());
  claims.assign(claims.size(), 1);
  leave(GAINZ_OP_KV_WRITE, 5);
  leave(GAINZ_OP_ATTENTION, 5);  // the whole of group 1, the global layer
  EXPECT_TRUE(check_claims(*graph, claims, "fake").ok());
  leave(GAINZ_OP_KV_WRITE, 2);
  leave(GAINZ_OP_ATTENTION, 2);  // one layer of group 0
  const Status status = check_claims(*graph, claims, "fake");
  EXPECT_EQ(status.code(), Code::internal);
  EXPECT_THAT(status.message(), HasSubstr("(kv_write, layer 2)"));
}

TEST_F(PartitionTest, ClaimsAreZeroOrOne) {
  claims[4] = 2;
  EXPECT_THAT(check_claims(*graph, claims, "fake").message(), HasSubstr("claim 2 for node 4"));
}

TEST_F(PartitionTest, RefusalNamesTheFirstOfEachKind) {
  leave(GAINZ_OP_GATED_ACTIVATION);
  leave(GAINZ_OP_EMBED);
  const std::string text = unclaimed_text(*graph, claims, "fake");
  EXPECT_THAT(text, HasSubstr("backend fake leaves 8 of"));
  EXPECT_THAT(text, HasSubstr("node 0 (embed), node"));
  EXPECT_THAT(text, HasSubstr("(gated_activation, layer 0)"));
}

}  // namespace
}  // namespace gainz
