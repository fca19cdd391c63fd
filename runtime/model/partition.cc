#include "model/partition.h"

#include <set>

#include "model/op_name.h"

namespace gainz {
namespace {

constexpr size_t kMaxNamed = 4;  // kinds of nodes named in a refusal

bool has_pages(const gainz_node& node) { return node.op == GAINZ_OP_KV_WRITE || node.op == GAINZ_OP_ATTENTION; }
const gainz_attention_attr& attention_of(const gainz_node& node) {
  return *static_cast<const gainz_attention_attr*>(node.attributes);
}

std::string node_text(const gainz_graph& graph, uint32_t index) {
  const gainz_node& node = graph.nodes[index];
  std::string text = "node " + std::to_string(index) + " (" + op_name(node.op);
  if (node.layer != GAINZ_NO_VALUE) text += ", layer " + std::to_string(node.layer);
  return text + ")";
}

// Builds one part after another, in the order of the nodes.
class Cutter {
 public:
  Cutter(const gainz_graph& graph, std::span<const uint8_t> claims)
      : graph_(graph), claims_(claims), part_of_node_(graph.num_nodes), maker_(graph.num_values, GAINZ_NO_VALUE) {}

  std::vector<Part> cut() {
    std::vector<Part> parts;
    assign_parts();
    find_crossing();
    for (uint32_t first = 0; first < graph_.num_nodes;) {
      uint32_t last = first;
      while (last < graph_.num_nodes && part_of_node_[last] == part_of_node_[first]) ++last;
      parts.push_back(make_part(first, last));
      first = last;
    }
    return parts;
  }

 private:
  void assign_parts() {
    uint32_t part = 0;
    for (uint32_t i = 0; i < graph_.num_nodes; ++i) {
      if (i > 0 && claims_[i] != claims_[i - 1]) ++part;
      part_of_node_[i] = part;
      for (uint32_t o = 0; o < graph_.nodes[i].num_outputs; ++o) maker_[graph_.nodes[i].outputs[o]] = part;
    }
  }

  // Values that somebody outside of the part that makes them reads.
  void find_crossing() {
    crosses_.assign(graph_.num_values, 0);
    for (uint32_t o = 0; o < graph_.num_outputs; ++o) crosses_[graph_.outputs[o]] = 1;
    for (uint32_t i = 0; i < graph_.num_nodes; ++i) {
      const gainz_node& node = graph_.nodes[i];
      for (uint32_t j = 0; j < node.num_inputs; ++j) {
        const uint32_t v = node.inputs[j];
        if (v != GAINZ_NO_VALUE && maker_[v] != GAINZ_NO_VALUE && maker_[v] != part_of_node_[i]) crosses_[v] = 1;
      }
    }
  }

  Part make_part(uint32_t first, uint32_t last) {
    Part part;
    part.is_scalar = claims_[first] == 0;
    local_value_.assign(graph_.num_values, GAINZ_NO_VALUE);
    local_group_.assign(graph_.num_page_groups, GAINZ_NO_VALUE);
    for (uint32_t i = first; i < last; ++i) add_node(part, graph_.nodes[i], part_of_node_[first]);
    return part;
  }

  uint32_t local(Part& part, uint32_t v, uint32_t number) {
    if (v == GAINZ_NO_VALUE) return v;
    if (local_value_[v] != GAINZ_NO_VALUE) return local_value_[v];
    gainz_value value = graph_.values[v];
    const auto at = uint32_t(part.values.size());
    const bool is_made_here = maker_[v] == number;
    if (value.kind != GAINZ_VALUE_WEIGHT && !is_made_here) {
      value.kind = GAINZ_VALUE_INPUT;
      part.inputs.push_back(at);
    }
    if (is_made_here && crosses_[v]) part.outputs.push_back(at);
    part.values.push_back(value);
    part.whole_values.push_back(v);
    return local_value_[v] = at;
  }

  void add_node(Part& part, const gainz_node& whole, uint32_t number) {
    gainz_node node = whole;
    for (uint32_t j = 0; j < node.num_inputs; ++j) node.inputs[j] = local(part, node.inputs[j], number);
    for (uint32_t j = 0; j < node.num_outputs; ++j) node.outputs[j] = local(part, node.outputs[j], number);
    if (has_pages(node)) {
      gainz_attention_attr attr = attention_of(whole);
      const uint32_t group = attr.group;
      if (local_group_[group] == GAINZ_NO_VALUE) {
        local_group_[group] = uint32_t(part.groups.size());
        part.groups.push_back(graph_.page_groups[group]);
        part.groups.back().num_layers = 0;
        part.whole_groups.push_back(group);
      }
      attr.group = local_group_[group];
      // A kv_write opens the next layer of the part's group; its attention follows at once (Graph sees to that).
      attr.layer = node.op == GAINZ_OP_KV_WRITE ? part.groups[attr.group].num_layers++ : part.groups[attr.group].num_layers - 1;
      node.attributes = part.attention.emplace_back(std::make_unique<gainz_attention_attr>(attr)).get();
    }
    part.nodes.push_back(node);
  }

  const gainz_graph& graph_;
  std::span<const uint8_t> claims_;
  std::vector<uint32_t> part_of_node_, maker_, local_value_, local_group_;
  std::vector<uint8_t> crosses_;
};

}  // namespace

gainz_graph Part::graph() const {
  return {sizeof(gainz_graph),     uint32_t(values.size()),  uint32_t(nodes.size()), uint32_t(groups.size()),
          values.data(),           sizeof(gainz_value),      nodes.data(),           sizeof(gainz_node),
          groups.data(),           sizeof(gainz_page_group), inputs.data(),          outputs.data(),
          uint32_t(inputs.size()), uint32_t(outputs.size())};
}

Status check_claims(const gainz_graph& graph, std::span<const uint8_t> claims, const std::string& backend) {
  std::vector<uint8_t> owner(graph.num_page_groups, 2);  // 2: not seen yet
  for (uint32_t i = 0; i < graph.num_nodes; ++i) {
    if (claims[i] > 1)
      return {Code::internal, "backend " + backend + ": it answered the claim " + std::to_string(claims[i]) + " for " +
                                  node_text(graph, i) + "; a claim is 0 or 1"};
    const gainz_node& node = graph.nodes[i];
    if (!has_pages(node)) continue;
    uint8_t& seen = owner[attention_of(node).group];
    if (seen == 2) seen = claims[i];
    if (seen != claims[i])
      return {Code::internal, "backend " + backend +
                                  ": it claims only some of the kv_write and attention nodes of page group " +
                                  std::to_string(attention_of(node).group) + ", first differing at " + node_text(graph, i)};
  }
  return {};
}

uint32_t num_unclaimed(std::span<const uint8_t> claims) {
  uint32_t count = 0;
  for (const uint8_t claim : claims) count += claim == 0;
  return count;
}

std::string unclaimed_text(const gainz_graph& graph, std::span<const uint8_t> claims, const std::string& backend) {
  std::string named;
  std::set<uint32_t> ops;
  for (uint32_t i = 0; i < graph.num_nodes && ops.size() < kMaxNamed; ++i) {
    if (claims[i] != 0 || !ops.insert(graph.nodes[i].op).second) continue;
    named += (named.empty() ? "" : ", ") + node_text(graph, i);
  }
  return "backend " + backend + " leaves " + std::to_string(num_unclaimed(claims)) + " of " + std::to_string(graph.num_nodes) +
         " nodes, the first of each kind: " + named + "; fallback = \"scalar\" would run them on the slow scalar kernels";
}

std::vector<Part> partition(const gainz_graph& graph, std::span<const uint8_t> claims) { return Cutter(graph, claims).cut(); }

}  // namespace gainz
