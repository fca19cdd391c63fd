#include "fusion.h"

#include <algorithm>

namespace gainz::vulkan {

namespace {

class Fuser {
 public:
  explicit Fuser(const sdk::Graph& graph) : graph_(graph) {
    const size_t num_values = graph.values.size();
    uses_.assign(num_values, 0);
    maker_.assign(num_values, nullptr);
    user_.assign(num_values, nullptr);
    owner_.assign(graph.nodes.size(), nullptr);
    for (const sdk::Node& node : graph.nodes) {
      for (uint32_t i = 0; i < node.num_inputs; ++i) {
        if (!node.has_input(i)) continue;
        ++uses_[node.inputs[i]];
        user_[node.inputs[i]] = &node;
      }
      for (uint32_t i = 0; i < node.num_outputs; ++i) maker_[node.outputs[i]] = &node;
    }
    for (const uint32_t v : graph.outputs) uses_[v] += 2;  // seen from outside: stays as it is
  }

  std::vector<Work> make() {
    find_gated();
    find_groups();
    find_sums();
    std::vector<std::pair<uint32_t, Work>> order;
    std::vector<uint8_t> taken(graph_.nodes.size(), 0);
    for (const sdk::Node& node : graph_.nodes) {
      if (taken[node.index]) continue;
      Work work;
      work.node = &node;
      work.layer = node.layer;
      uint32_t at = node.index;
      if (node.op == GAINZ_OP_LINEAR) {
        work.linears = {&node};
        if (const Group* group = owner_[node.index]; group != nullptr) {
          work.linears = group->linears;
          work.gated = group->gated;
        }
      }
      if (work.gated != nullptr) at = work.gated->index;
      if (const sdk::Node* add = sum_of(work); add != nullptr) {
        work.add = add;
        work.residual = add->inputs[add->inputs[0] == last_value(work) ? 1 : 0];
        at = add->index;
      }
      for (const sdk::Node* linear : work.linears) taken[linear->index] = 1;
      if (work.gated != nullptr) taken[work.gated->index] = 1;
      if (work.add != nullptr) taken[work.add->index] = 1;
      order.emplace_back(at, std::move(work));
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Work> works;
    for (auto& [at, work] : order) works.push_back(std::move(work));
    set_masks(&works);
    return works;
  }

 private:
  struct Group {
    std::vector<const sdk::Node*> linears;
    const sdk::Node* gated = nullptr;
  };

  static uint32_t last_value(const Work& work) {
    return work.gated != nullptr ? work.gated->outputs[0] : work.node->outputs[0];
  }
  // A product whose weight nobody else uses, so that it may be packed with others.
  bool is_free(const sdk::Node& node) const { return node.op == GAINZ_OP_LINEAR && uses_[node.inputs[1]] == 1; }
  static bool are_alike(const sdk::Node& a, const sdk::Node& b) {
    return a.inputs[0] == b.inputs[0] && a.input(1).type == b.input(1).type && a.has_input(2) == b.has_input(2) &&
           a.output(0).rows == b.output(0).rows;
  }

  void find_gated() {
    for (const sdk::Node& node : graph_.nodes) {
      if (node.op != GAINZ_OP_GATED_ACTIVATION || node.inputs[0] == node.inputs[1]) continue;
      const sdk::Node* gate = maker_[node.inputs[0]];
      const sdk::Node* up = maker_[node.inputs[1]];
      if (gate == nullptr || up == nullptr || !is_free(*gate) || !is_free(*up) || !are_alike(*gate, *up)) continue;
      if (uses_[node.inputs[0]] != 1 || uses_[node.inputs[1]] != 1) continue;
      groups_.push_back(std::make_unique<Group>(Group{{gate, up}, &node}));
      owner_[gate->index] = owner_[up->index] = groups_.back().get();
    }
  }

  void find_groups() {
    for (const sdk::Node& node : graph_.nodes) {
      if (!is_free(node) || owner_[node.index] != nullptr || uses_[node.outputs[0]] == 0) continue;
      std::vector<const sdk::Node*> alike;
      for (uint32_t i = node.index; i < graph_.nodes.size(); ++i) {
        const sdk::Node& other = graph_.nodes[i];
        if (is_free(other) && owner_[i] == nullptr && are_alike(node, other) && !is_output(other.outputs[0]))
          alike.push_back(&other);
      }
      if (alike.size() < 2 || alike[0] != &node) continue;
      groups_.push_back(std::make_unique<Group>(Group{alike, nullptr}));
      for (const sdk::Node* linear : alike) owner_[linear->index] = groups_.back().get();
    }
  }

  bool is_output(uint32_t value) const { return std::count(graph_.outputs.begin(), graph_.outputs.end(), value) != 0; }

  // The ADD that alone uses what the node makes. Each is promised to one work: where both sides could take it, to the later
  // one.
  void find_sums() {
    promised_.assign(graph_.nodes.size(), nullptr);
    for (const sdk::Node& node : graph_.nodes) {
      const bool product = node.op == GAINZ_OP_LINEAR && owner_[node.index] == nullptr;
      if (!product && node.op != GAINZ_OP_RMSNORM && node.op != GAINZ_OP_LAYERNORM) continue;
      const uint32_t v = node.outputs[0];
      if (uses_[v] != 1 || user_[v]->op != GAINZ_OP_ADD || user_[v]->inputs[0] == user_[v]->inputs[1]) continue;
      promised_[user_[v]->index] = &node;
    }
  }
  const sdk::Node* sum_of(const Work& work) const {
    const uint32_t v = last_value_or_none(work);
    if (v == kNone || uses_[v] != 1 || user_[v]->op != GAINZ_OP_ADD) return nullptr;
    return promised_[user_[v]->index] == work.node ? user_[v] : nullptr;
  }
  static uint32_t last_value_or_none(const Work& work) { return work.node->num_outputs == 0 ? kNone : last_value(work); }

  void set_masks(std::vector<Work>* works) const {
    std::vector<uint64_t> wanted(graph_.values.size(), 0);
    for (size_t o = 0; o < graph_.outputs.size(); ++o)
      wanted[graph_.outputs[o]] |= 1ull << std::min<size_t>(o, kMaxMaskedOutputs);
    for (size_t w = works->size(); w-- > 0;) {
      Work& work = (*works)[w];
      if (work.node->op == GAINZ_OP_KV_WRITE) work.mask = kMaskAlways;
      const auto note = [&](const sdk::Node* node) {
        for (uint32_t i = 0; i < node->num_outputs; ++i) work.mask |= wanted[node->outputs[i]];
      };
      const auto need = [&](const sdk::Node* node) {
        for (uint32_t i = 0; i < node->num_inputs; ++i)
          if (node->has_input(i)) wanted[node->inputs[i]] |= work.mask;
      };
      note(work.node);
      for (const sdk::Node* linear : work.linears) note(linear);
      if (work.gated != nullptr) note(work.gated);
      if (work.add != nullptr) note(work.add);
      need(work.node);
      for (const sdk::Node* linear : work.linears) need(linear);
      if (work.add != nullptr) need(work.add);
    }
  }

  const sdk::Graph& graph_;
  std::vector<uint32_t> uses_;
  std::vector<const sdk::Node*> maker_, user_;
  std::vector<const Group*> owner_;         // [num_nodes] of a LINEAR
  std::vector<const sdk::Node*> promised_;  // [num_nodes] of an ADD
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace

std::vector<Work> fuse(const sdk::Graph& graph) { return Fuser(graph).make(); }

}  // namespace gainz::vulkan
