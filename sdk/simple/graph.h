// graph.h: the plugin's own copy of a gainz_graph, checked. Owner: a model, or model_claim for its call. Any thread once made.
#ifndef GAINZ_SDK_SIMPLE_GRAPH_H
#define GAINZ_SDK_SIMPLE_GRAPH_H

#include <vector>

#include "gainz/sdk/simple_backend.h"

namespace gainz::sdk {

inline constexpr uint32_t kMaxValues = 1u << 20;
inline constexpr uint32_t kMaxNodes = 1u << 20;
inline constexpr uint32_t kMaxPageGroups = 256;
inline constexpr uint64_t kMaxDim = (1ull << 31) - 1;  // ids are i32
inline constexpr uint64_t kMaxElements = 1ull << 46;   // of one weight
inline constexpr uint64_t kMaxNameBytes = 1024;

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;  // their `values` points into this graph, so it is neither copied nor moved
  std::vector<gainz_page_group> groups;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  std::vector<uint8_t> known;  // [num_nodes] 1: an op of ops.h over types of types.h, its shapes checked

  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // INVALID names the node or value that is broken.
  Status read(const gainz_graph* graph);
  bool has_kv() const;

 private:
  Status read_values(const gainz_graph& graph);
  Status read_nodes(const gainz_graph& graph);
  Status read_groups(const gainz_graph& graph);
  Status read_borders(const gainz_graph& graph);
  Status check_order() const;
};

// "node 3 (linear, layer 1)"
std::string describe(const Node& node);
const char* op_name(uint32_t op);

// The attributes of a known op, copied and checked for size; defaults filled in.
Status read_attributes(const void* attributes, Node* node);
// Number and shapes of inputs and outputs, and the attributes' values. `node.op` is known, its values are in range.
Status check_node(const Graph& graph, const Node& node);

// Bytes of a whole weight; 0 for a type that is not known or rows that are not whole blocks.
uint64_t weight_bytes(const Value& value);

}  // namespace gainz::sdk

#endif
