#include "graph.h"

#include <cstring>

#include "border.h"
#include "reference/dequantize.h"

namespace gainz::sdk {

static constexpr const char* kOpNames[GAINZ_OP_COUNT] = {
    "op 0",      "embed",      "rmsnorm",          "layernorm",  "linear", "rope",  "kv_write",
    "attention", "activation", "gated_activation", "add",        "mul",    "scale", "softcap",
    "moe_route", "moe_linear", "gather_rows",      "logit_mask", "top_k"};

const char* op_name(uint32_t op) { return op < GAINZ_OP_COUNT ? kOpNames[op] : "an unknown op"; }

std::string describe(const Node& node) {
  std::string text = "node " + std::to_string(node.index) + " (" + op_name(node.op);
  if (node.layer != GAINZ_NO_VALUE) text += ", layer " + std::to_string(node.layer);
  return text + ")";
}

uint64_t weight_bytes(const Value& value) {
  return reference::row_bytes(value.type, value.dims[0]) * value.dims[1] * value.dims[2] * value.dims[3];
}

static Status read_dims(const Value& value, uint32_t index) {
  const bool weight = value.kind == GAINZ_VALUE_WEIGHT;
  uint64_t elements = 1;
  for (int d = 0; d < 4; ++d) {
    const uint64_t dim = value.dims[static_cast<size_t>(d)];
    if (!weight && d == 1) continue;
    if (dim == 0 || dim > kMaxDim || elements > kMaxElements / dim) {
      return failure(GAINZ_STATUS_INVALID, "value %u (%s): dimension %d of %llu", index, value.name.c_str(), d,
                     static_cast<unsigned long long>(dim));
    }
    elements *= dim;
  }
  if (weight) return {};
  const bool type_fits = value.type == GAINZ_TYPE_F32 || value.type == GAINZ_TYPE_I32;
  const bool rows_fit = value.rows == GAINZ_ROWS_TOKENS || value.rows == GAINZ_ROWS_OUTPUTS;
  if (type_fits && rows_fit && value.dims[1] == 0 && value.dims[2] == 1 && value.dims[3] == 1) return {};
  return failure(GAINZ_STATUS_INVALID, "value %u (%s): an activation is [T or R, columns] of f32 or i32", index,
                 value.name.c_str());
}

Status Graph::read_values(const gainz_graph& graph) {
  values.resize(graph.num_values);
  for (uint32_t i = 0; i < graph.num_values; ++i) {
    gainz_value in{};
    GAINZ_SDK_TRY(read_element(graph.values, graph.value_stride, i, &in, "gainz_value"));
    Value& value = values[i];
    value.kind = in.kind;
    value.type = in.type;
    value.rows = in.rows;
    std::memcpy(value.dims.data(), in.dims, sizeof in.dims);
    if (in.name != nullptr) value.name.assign(in.name, strnlen(in.name, kMaxNameBytes));
    if (in.kind < GAINZ_VALUE_WEIGHT || in.kind > GAINZ_VALUE_NODE) {
      return failure(GAINZ_STATUS_INVALID, "value %u (%s): kind %u", i, value.name.c_str(), in.kind);
    }
    GAINZ_SDK_TRY(read_dims(value, i));
  }
  return {};
}

// An op of ops.h whose weights are of types whose bytes have a meaning.
static bool is_known(const Node& node) {
  if (node.op == 0 || node.op >= GAINZ_OP_COUNT) return false;
  for (uint32_t i = 0; i < node.num_inputs; ++i) {
    if (!node.has_input(i) || node.input(i).kind != GAINZ_VALUE_WEIGHT) continue;
    if (node.input(i).type == GAINZ_TYPE_I32 || reference::type_traits(node.input(i).type).name == nullptr) return false;
  }
  return true;
}

Status Graph::read_nodes(const gainz_graph& graph) {
  nodes.resize(graph.num_nodes);
  known.assign(graph.num_nodes, 0);
  for (uint32_t i = 0; i < graph.num_nodes; ++i) {
    gainz_node in{};
    GAINZ_SDK_TRY(read_element(graph.nodes, graph.node_stride, i, &in, "gainz_node"));
    Node& node = nodes[i];
    node.op = in.op;
    node.index = i;
    node.layer = in.layer;
    node.values = &values;
    if (in.num_inputs > GAINZ_NODE_MAX_INPUTS || in.num_outputs > GAINZ_NODE_MAX_OUTPUTS) {
      return failure(GAINZ_STATUS_INVALID, "%s: %u inputs, %u outputs", describe(node).c_str(), in.num_inputs, in.num_outputs);
    }
    node.num_inputs = in.num_inputs;
    node.num_outputs = in.num_outputs;
    for (uint32_t j = 0; j < in.num_inputs; ++j) {
      node.inputs[j] = in.inputs[j];
      if (in.inputs[j] != GAINZ_NO_VALUE && in.inputs[j] >= values.size()) {
        return failure(GAINZ_STATUS_INVALID, "%s: input %u is value %u of %zu", describe(node).c_str(), j, in.inputs[j],
                       values.size());
      }
    }
    for (uint32_t j = 0; j < in.num_outputs; ++j) {
      node.outputs[j] = in.outputs[j];
      if (in.outputs[j] >= values.size()) {
        return failure(GAINZ_STATUS_INVALID, "%s: output %u is value %u of %zu", describe(node).c_str(), j, in.outputs[j],
                       values.size());
      }
    }
    if (!is_known(node)) continue;
    GAINZ_SDK_TRY(read_attributes(in.attributes, &node));
    GAINZ_SDK_TRY(check_node(*this, node));
    known[i] = 1;
  }
  return {};
}

Status Graph::read_groups(const gainz_graph& graph) {
  groups.resize(graph.num_page_groups);
  for (uint32_t i = 0; i < graph.num_page_groups; ++i) {
    GAINZ_SDK_TRY(read_element(graph.page_groups, graph.page_group_stride, i, &groups[i], "gainz_page_group"));
    const gainz_page_group& g = groups[i];
    if (g.num_layers == 0 || g.num_layers > 65536 || g.num_kv_heads == 0 || g.num_kv_heads > 65536 || g.k_head_dim == 0 ||
        g.k_head_dim > 65536 || g.v_head_dim == 0 || g.v_head_dim > 65536) {
      return failure(GAINZ_STATUS_INVALID, "page group %u: %u layers of %u heads of %u and %u columns", i, g.num_layers,
                     g.num_kv_heads, g.k_head_dim, g.v_head_dim);
    }
  }
  return {};
}

Status Graph::read_borders(const gainz_graph& graph) {
  if ((graph.num_inputs != 0 && graph.inputs == nullptr) || (graph.num_outputs != 0 && graph.outputs == nullptr) ||
      graph.num_inputs > kMaxValues || graph.num_outputs > kMaxValues) {
    return failure(GAINZ_STATUS_INVALID, "gainz_graph: %u inputs, %u outputs", graph.num_inputs, graph.num_outputs);
  }
  inputs.assign(graph.inputs, graph.inputs + graph.num_inputs);
  outputs.assign(graph.outputs, graph.outputs + graph.num_outputs);
  std::vector<uint8_t> listed(values.size(), 0);
  for (uint32_t v : inputs) {
    if (v >= values.size() || values[v].kind != GAINZ_VALUE_INPUT || listed[v]++ != 0) {
      return failure(GAINZ_STATUS_INVALID, "graph input %u is no value of kind INPUT, or is listed twice", v);
    }
  }
  for (size_t v = 0; v < values.size(); ++v) {
    if (values[v].kind == GAINZ_VALUE_INPUT && listed[v] == 0) {
      return failure(GAINZ_STATUS_INVALID, "value %zu (%s) of kind INPUT is not among the graph's inputs", v,
                     values[v].name.c_str());
    }
  }
  for (uint32_t v : outputs) {
    if (v >= values.size() || values[v].kind == GAINZ_VALUE_WEIGHT) {
      return failure(GAINZ_STATUS_INVALID, "graph output %u is no activation", v);
    }
  }
  return {};
}

Status Graph::check_order() const {
  std::vector<uint8_t> made(values.size(), 0);
  for (size_t v = 0; v < values.size(); ++v) made[v] = values[v].kind != GAINZ_VALUE_NODE;
  for (const Node& node : nodes) {
    for (uint32_t i = 0; i < node.num_inputs; ++i) {
      if (!node.has_input(i) || made[node.inputs[i]]) continue;
      return failure(GAINZ_STATUS_INVALID, "%s uses value %u before it is made", describe(node).c_str(), node.inputs[i]);
    }
    for (uint32_t i = 0; i < node.num_outputs; ++i) {
      if (made[node.outputs[i]]) {
        return failure(GAINZ_STATUS_INVALID, "%s makes value %u again", describe(node).c_str(), node.outputs[i]);
      }
      made[node.outputs[i]] = 1;
    }
    if (node.op != GAINZ_OP_ATTENTION || !known[node.index]) continue;
    bool stored = false;
    for (uint32_t i = 0; i < node.index && !stored; ++i) {
      const gainz_attention_attr& writer = nodes[i].attr.attention;
      stored = nodes[i].op == GAINZ_OP_KV_WRITE && known[i] && writer.group == node.attr.attention.group &&
               writer.layer == node.attr.attention.layer;
    }
    if (!stored)
      return failure(GAINZ_STATUS_INVALID, "%s: no kv_write of its group and layer before it", describe(node).c_str());
  }
  for (uint32_t v : outputs) {
    if (!made[v]) return failure(GAINZ_STATUS_INVALID, "graph output %u is made by no node", v);
  }
  return {};
}

Status Graph::read(const gainz_graph* graph) {
  gainz_graph in{};
  GAINZ_SDK_TRY(read_struct(graph, &in, "gainz_graph"));
  if (in.num_values > kMaxValues || in.num_nodes > kMaxNodes || in.num_page_groups > kMaxPageGroups || in.num_nodes == 0) {
    return failure(GAINZ_STATUS_INVALID,
                   "gainz_graph: %u values, %u nodes, %u page groups; at least one node, at most %u, %u and %u", in.num_values,
                   in.num_nodes, in.num_page_groups, kMaxValues, kMaxNodes, kMaxPageGroups);
  }
  GAINZ_SDK_TRY(read_groups(in));
  GAINZ_SDK_TRY(read_values(in));
  GAINZ_SDK_TRY(read_nodes(in));
  GAINZ_SDK_TRY(read_borders(in));
  return check_order();
}

bool Graph::has_kv() const {
  for (const Node& node : nodes) {
    if (node.op == GAINZ_OP_KV_WRITE || node.op == GAINZ_OP_ATTENTION) return true;
  }
  return false;
}

}  // namespace gainz::sdk
