#include "plan.h"

#include <algorithm>
#include <cstring>

#include "reference/rope.h"

namespace gainz::onednn {

namespace {

constexpr uint64_t kMaxArenaBytes = 1ull << 46;

struct Item {
  Op op;
  uint32_t num_missing = 0;
  std::vector<uint32_t> dependents;
  bool done = false;
};

class Planner {
 public:
  Planner(const Model& model, const gainz_bucket& bucket, bool has_tiles, Plan& plan)
      : model_(model), graph_(model.graph()), bucket_(bucket), has_tiles_(has_tiles), plan_(plan) {}

  Status make() {
    choose_domains();
    choose_masks();
    make_items();
    choose_tiles();
    schedule();
    cut_slices();
    set_lifetimes();
    return place_all();
  }

 private:
  static bool is_row_op(uint32_t op) { return op != GAINZ_OP_LINEAR && op != GAINZ_OP_MOE_LINEAR && op != GAINZ_OP_ATTENTION; }
  static bool may_gather(uint32_t op) {
    switch (op) {
      case GAINZ_OP_RMSNORM:
      case GAINZ_OP_LAYERNORM:
      case GAINZ_OP_LINEAR:
      case GAINZ_OP_ACTIVATION:
      case GAINZ_OP_GATED_ACTIVATION:
      case GAINZ_OP_ADD:
      case GAINZ_OP_MUL:
      case GAINZ_OP_SCALE:
      case GAINZ_OP_SOFTCAP:
      case GAINZ_OP_MOE_ROUTE:
      case GAINZ_OP_MOE_LINEAR:
        return true;
      default:
        return false;
    }
  }

  void choose_domains() {
    const size_t num_values = graph_.values.size();
    std::vector<uint8_t> at_outputs_only(num_values, 1), used(num_values, 0);
    for (const uint32_t v : graph_.outputs) at_outputs_only[v] = 0;
    node_domain_.resize(graph_.nodes.size());
    plan_.buffers.resize(num_values);
    for (size_t v = 0; v < num_values; ++v) plan_.buffers[v].domain = graph_.values[v].rows;
    for (size_t n = graph_.nodes.size(); n-- > 0;) {
      const sdk::Node& node = graph_.nodes[n];
      uint32_t domain = node.num_outputs != 0 ? node.output(0).rows : GAINZ_ROWS_TOKENS;
      bool convert = domain == GAINZ_ROWS_TOKENS && may_gather(node.op);
      for (uint32_t i = 0; i < node.num_outputs; ++i)
        convert = convert && used[node.outputs[i]] && at_outputs_only[node.outputs[i]];
      if (convert) {
        domain = GAINZ_ROWS_OUTPUTS;
        for (uint32_t i = 0; i < node.num_outputs; ++i) plan_.buffers[node.outputs[i]].domain = domain;
      }
      node_domain_[n] = domain;
      for (uint32_t i = 0; i < node.num_inputs; ++i) {
        if (!node.has_input(i)) continue;
        used[node.inputs[i]] = 1;
        if (domain != GAINZ_ROWS_OUTPUTS) at_outputs_only[node.inputs[i]] = 0;
      }
    }
  }

  void choose_masks() {
    value_mask_.assign(graph_.values.size(), 0);
    for (size_t o = 0; o < graph_.outputs.size(); ++o) value_mask_[graph_.outputs[o]] |= 1ull << std::min<size_t>(o, 62);
    node_mask_.assign(graph_.nodes.size(), 0);
    for (size_t n = graph_.nodes.size(); n-- > 0;) {
      const sdk::Node& node = graph_.nodes[n];
      uint64_t mask = node.op == GAINZ_OP_KV_WRITE ? kMaskAlways : 0;
      for (uint32_t i = 0; i < node.num_outputs; ++i) mask |= value_mask_[node.outputs[i]];
      node_mask_[n] = mask;
      for (uint32_t i = 0; i < node.num_inputs; ++i)
        if (node.has_input(i)) value_mask_[node.inputs[i]] |= mask;
    }
  }

  uint32_t add_item(const Op& op) {
    items_.push_back(Item{.op = op});
    return static_cast<uint32_t>(items_.size() - 1);
  }
  void depend(uint32_t item, uint32_t on) {
    if (on == kNone) return;
    items_[on].dependents.push_back(item);
    ++items_[item].num_missing;
  }

  // The item that quantises `value` in `domain`; made once.
  uint32_t quantized(uint32_t value, uint32_t domain, uint64_t mask, uint32_t layer) {
    for (size_t a = 0; a < plan_.acts.size(); ++a) {
      if (plan_.acts[a].value != value || plan_.acts[a].domain != domain) continue;
      items_[act_item_[a]].op.mask |= mask;
      return act_item_[a];
    }
    const auto act = static_cast<uint32_t>(plan_.acts.size());
    const uint32_t item =
        add_item(Op{.op = kOpQuantize, .domain = domain, .layer = layer, .value = value, .act = act, .mask = mask});
    depend(item, producer_[value]);
    Place place;
    place.domain = domain;
    place.stride_bytes = graph_.values[value].cols() / kBlock * sizeof(ActBlock);
    plan_.acts.push_back(Act{.value = value, .domain = domain, .place = place});
    act_item_.push_back(item);
    return item;
  }

  uint32_t rope_table(const sdk::Node& node, uint64_t mask) {
    const uint32_t factors = node.has_input(1) ? node.inputs[1] : kNone;
    for (size_t i = 0; i < plan_.ropes.size(); ++i) {
      gainz_rope_attr a = plan_.ropes[i].attr, b = node.attr.rope;
      a.num_heads = b.num_heads = a.mode = b.mode = a.head_dim = b.head_dim = 0;
      if (plan_.ropes[i].factors != factors || std::memcmp(&a, &b, sizeof a) != 0) continue;
      items_[rope_item_[i]].op.mask |= mask;
      return static_cast<uint32_t>(i);
    }
    RopeTable table;
    table.attr = node.attr.rope;
    table.factors = factors;
    table.inverse.resize(node.attr.rope.rotary_dim / 2);
    reference::rope_frequencies(table.attr, factors == kNone ? nullptr : model_.weight(factors).floats(), table.inverse.data());
    table.place.domain = GAINZ_ROWS_TOKENS;
    table.place.stride_bytes = node.attr.rope.rotary_dim * sizeof(float);
    plan_.ropes.push_back(std::move(table));
    const auto index = static_cast<uint32_t>(plan_.ropes.size() - 1);
    rope_item_.push_back(add_item(Op{.op = kOpRopeTable, .domain = GAINZ_ROWS_TOKENS, .rope = index, .mask = mask}));
    return index;
  }

  void make_items() {
    producer_.assign(graph_.values.size(), kNone);
    for (const sdk::Node& node : graph_.nodes) {
      const uint32_t domain = node_domain_[node.index];
      Op op{.op = node.op, .node = &node, .domain = domain, .layer = node.layer, .mask = node_mask_[node.index]};
      uint32_t needs = kNone;
      const uint32_t weight = node.op == GAINZ_OP_LINEAR       ? node.inputs[1]
                              : node.op == GAINZ_OP_MOE_LINEAR ? node.inputs[2]
                                                               : kNone;
      if (weight != kNone && model_.weight(weight).matrix.quantized()) {
        needs = quantized(node.inputs[0], domain, op.mask, node.layer);
        op.act = items_[needs].op.act;
      }
      if (node.op == GAINZ_OP_ROPE) {
        op.rope = rope_table(node, op.mask);
        needs = rope_item_[op.rope];
      }
      const bool sums = node.op == GAINZ_OP_MOE_LINEAR && node.has_input(3);
      if (sums) {
        op.extra = static_cast<uint32_t>(plan_.buffers.size());
        Place extra;
        extra.domain = domain;
        extra.stride_bytes = static_cast<uint64_t>(node.attr.moe_linear.num_chosen) * model_.weight(weight).matrix.num_rows * 4;
        extra.wanted = true;
        plan_.buffers.push_back(extra);
      }
      uint32_t item = add_item(op);
      depend(item, needs);
      for (uint32_t i = 0; i < node.num_inputs; ++i)
        if (node.has_input(i)) depend(item, producer_[node.inputs[i]]);
      if (node.op == GAINZ_OP_KV_WRITE || node.op == GAINZ_OP_ATTENTION) order_pages(item);
      if (sums) {
        const uint32_t product = item;
        op.op = kOpMoeSum;
        item = add_item(op);
        depend(item, product);
        depend(item, producer_[node.inputs[3]]);
      }
      for (uint32_t i = 0; i < node.num_outputs; ++i) producer_[node.outputs[i]] = item;
    }
  }

  // Inputs of linears alone. What is computed at output rows only is a few rows a step: they stay with the generated ones'
  // kernels.
  void choose_tiles() {
    for (Act& act : plan_.acts) act.tiled = has_tiles_ && act.domain == GAINZ_ROWS_TOKENS;
    for (const Item& item : items_)
      if (item.op.op == GAINZ_OP_MOE_LINEAR && item.op.act != kNone) plan_.acts[item.op.act].tiled = false;
    for (const Act& act : plan_.acts) plan_.uses_tiles = plan_.uses_tiles || act.tiled;
  }

  // A write and the attentions of its layer keep the graph's order.
  void order_pages(uint32_t item) {
    const gainz_attention_attr& a = items_[item].op.node->attr.attention;
    for (const uint32_t other : page_items_) {
      const Op& op = items_[other].op;
      if (op.node->attr.attention.group != a.group || op.node->attr.attention.layer != a.layer) continue;
      if (op.op == GAINZ_OP_ATTENTION && items_[item].op.op == GAINZ_OP_ATTENTION) continue;
      depend(item, other);
    }
    page_items_.push_back(item);
  }

  bool ready(uint32_t i) const { return !items_[i].done && items_[i].num_missing == 0; }
  void finish(uint32_t i) {
    items_[i].done = true;
    for (const uint32_t d : items_[i].dependents) --items_[d].num_missing;
  }
  void put(Stage* stage, uint32_t i) {
    const Op& op = items_[i].op;
    stage->ops.push_back(op);
    stage->mask |= op.mask;
    if (op.layer != kNone) stage->layer = stage->layer == kNone ? op.layer : std::max(stage->layer, op.layer);
  }

  // Row ops of one domain, as many as become ready by each other. `open` holds the ready items in order.
  bool take_rows(uint32_t domain) {
    Stage stage{.kind = Stage::kRows, .domain = domain};
    for (bool more = true; more;) {
      more = false;
      for (uint32_t i = first_open_; i < items_.size(); ++i) {
        if (!ready(i) || !is_row_op(items_[i].op.op) || items_[i].op.domain != domain) continue;
        put(&stage, i);
        finish(i);
        more = true;
      }
    }
    if (stage.ops.empty()) return false;
    plan_.stages.push_back(std::move(stage));
    return true;
  }

  bool take_products(uint32_t op, Stage::Kind kind, uint32_t domain, bool one) {
    Stage stage{.kind = kind, .domain = domain};
    std::vector<uint32_t> chosen;
    for (uint32_t i = first_open_; i < items_.size(); ++i) {
      if (!ready(i) || items_[i].op.op != op || items_[i].op.domain != domain) continue;
      put(&stage, i);
      chosen.push_back(i);
      if (one) break;
    }
    if (chosen.empty()) return false;
    for (const uint32_t i : chosen) finish(i);
    plan_.stages.push_back(std::move(stage));
    return true;
  }

  void schedule() {
    constexpr uint32_t kT = GAINZ_ROWS_TOKENS, kR = GAINZ_ROWS_OUTPUTS;
    for (;;) {
      while (first_open_ < items_.size() && items_[first_open_].done) ++first_open_;
      if (first_open_ == items_.size()) return;
      if (take_rows(kT) || take_rows(kR)) continue;
      if (take_products(GAINZ_OP_LINEAR, Stage::kLinear, kT, false) ||
          take_products(GAINZ_OP_LINEAR, Stage::kLinear, kR, false))
        continue;
      if (take_products(GAINZ_OP_MOE_LINEAR, Stage::kMoe, kT, true) ||
          take_products(GAINZ_OP_MOE_LINEAR, Stage::kMoe, kR, true))
        continue;
      if (!take_products(GAINZ_OP_ATTENTION, Stage::kAttention, kT, true)) return;  // cannot be: the graph's order is checked
    }
  }

  void cut_slices() {
    uint32_t layer = kNone;
    for (uint32_t s = 0; s < plan_.stages.size(); ++s) {
      Stage& stage = plan_.stages[s];
      stage.cost_bytes = 1 << 14;
      for (const Op& op : stage.ops) {
        if (op.op == GAINZ_OP_LINEAR) stage.cost_bytes += model_.weight(op.node->inputs[1]).matrix.size_bytes();
        if (op.op == GAINZ_OP_MOE_LINEAR) {
          const PackedWeight& w = model_.weight(op.node->inputs[2]).matrix;
          stage.cost_bytes += w.size_bytes() / w.num_matrices * op.node->attr.moe_linear.num_chosen;
        }
      }
      const bool next = stage.layer != kNone && (layer == kNone || stage.layer > layer);
      if (plan_.slices.empty() || (next && layer != kNone)) {
        plan_.slices.push_back(s);
        plan_.slice_cost.push_back(0);
      }
      if (next) layer = stage.layer;
      plan_.slice_cost.back() +=
          static_cast<uint32_t>(std::min<uint64_t>(stage.cost_bytes >> 10, UINT32_MAX / 2 - plan_.slice_cost.back()));
    }
    plan_.slices.push_back(static_cast<uint32_t>(plan_.stages.size()));
  }

  static void touch(Place* place, uint32_t stage) {
    place->first = std::min(place->first, stage);
    place->last = std::max(place->last, stage);
  }

  void set_lifetimes() {
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      plan_.buffers[v].stride_bytes = graph_.values[v].cols() * 4;
      plan_.buffers[v].wanted = false;
    }
    for (uint32_t s = 0; s < plan_.stages.size(); ++s) {
      for (const Op& op : plan_.stages[s].ops) {
        if (op.act != kNone) touch(&plan_.acts[op.act].place, s);
        if (op.extra != kNone) touch(&plan_.buffers[op.extra], s);
        if (op.op == kOpQuantize) touch(&plan_.buffers[op.value], s);
        if (op.op == kOpQuantize) plan_.buffers[op.value].wanted = true;
        if (op.node == nullptr) continue;
        for (uint32_t i = 0; i < op.node->num_inputs; ++i) {
          if (!op.node->has_input(i) || op.node->input(i).kind != GAINZ_VALUE_NODE) continue;
          touch(&plan_.buffers[op.node->inputs[i]], s);
          plan_.buffers[op.node->inputs[i]].wanted = true;
        }
        for (uint32_t i = 0; i < op.node->num_outputs; ++i) touch(&plan_.buffers[op.node->outputs[i]], s);
        // An output that nobody reads lies in the caller's memory only; one of two, or beyond the mask's bits, may need a
        // place.
        for (uint32_t i = 0; i < op.node->num_outputs; ++i)
          if (op.node->num_outputs > 1 || (op.mask & 1ull << 62) != 0 || value_mask_[op.node->outputs[i]] == 0)
            plan_.buffers[op.node->outputs[i]].wanted = true;
      }
    }
    for (size_t v = 0; v < graph_.values.size(); ++v)
      if (graph_.values[v].kind != GAINZ_VALUE_NODE) plan_.buffers[v].wanted = false;
    for (RopeTable& r : plan_.ropes) r.place.first = 0, r.place.last = static_cast<uint32_t>(plan_.stages.size());
  }

  Status place_all() {
    std::vector<Place*> order;
    for (Place& p : plan_.buffers)
      if (p.wanted && p.first != kNone) order.push_back(&p);
    for (Act& a : plan_.acts) {
      if (a.tiled) a.place.spare_rows = kTileRows - 1;
      order.push_back(&a.place);
    }
    for (RopeTable& r : plan_.ropes) order.push_back(&r.place);
    std::stable_sort(order.begin(), order.end(), [](const Place* a, const Place* b) { return a->first < b->first; });
    std::vector<std::pair<Place*, uint64_t>> alive;  // by offset, with size
    for (Place* p : order) {
      const uint64_t rows = (p->domain == GAINZ_ROWS_OUTPUTS ? bucket_.max_output_rows : bucket_.max_tokens) + p->spare_rows;
      const unsigned __int128 wide = static_cast<unsigned __int128>(rows) * p->stride_bytes;
      if (wide > kMaxArenaBytes)
        return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "a step of %u tokens needs a buffer beyond 2^46 bytes", bucket_.max_tokens);
      const uint64_t size = round_up(static_cast<uint64_t>(wide), 64);
      std::erase_if(alive, [&](const auto& other) { return other.first->last < p->first; });
      uint64_t offset = 0;
      auto at = alive.begin();
      for (; at != alive.end() && at->first->offset < offset + size; ++at)
        offset = std::max(offset, at->first->offset + at->second);
      p->offset = offset;
      alive.insert(std::find_if(alive.begin(), alive.end(), [&](const auto& other) { return other.first->offset >= offset; }),
                   {p, size});
      plan_.arena_bytes = std::max(plan_.arena_bytes, offset + size);
    }
    if (plan_.arena_bytes > kMaxArenaBytes)
      return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "the scratch of this bucket is beyond 2^46 bytes");
    return {};
  }

  const Model& model_;
  const sdk::Graph& graph_;
  const gainz_bucket& bucket_;
  const bool has_tiles_;
  Plan& plan_;
  std::vector<uint32_t> node_domain_;
  std::vector<uint64_t> value_mask_, node_mask_;
  std::vector<Item> items_;
  std::vector<uint32_t> producer_, act_item_, rope_item_, page_items_;
  uint32_t first_open_ = 0;
};

}  // namespace

Status Plan::make(const Model& model, const gainz_bucket& bucket, bool has_tiles) {
  return Planner(model, bucket, has_tiles, *this).make();
}

}  // namespace gainz::onednn
