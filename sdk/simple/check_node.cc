// What each op of ops.h asks of its inputs, outputs and attributes.
#include <cmath>

#include "border.h"
#include "graph.h"

namespace gainz::sdk {
namespace {

// Collects the first thing that is wrong with a node.
class NodeCheck {
 public:
  NodeCheck(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  NodeCheck& counts(uint32_t least_inputs, uint32_t most_inputs, uint32_t num_outputs) {
    require(node_.num_inputs >= least_inputs && node_.num_inputs <= most_inputs && node_.num_outputs == num_outputs,
            "wrong number of inputs or outputs");
    for (uint32_t i = 0; i < least_inputs; ++i) require(node_.has_input(i), "a needed input is absent");
    for (uint32_t i = 0; i < num_outputs && ok(); ++i)
      require(node_.output(i).kind == GAINZ_VALUE_NODE, "an output is not of kind NODE");
    return *this;
  }
  // Input i is an activation of `type` with `cols` columns (0: any) and rows like `rows` (FIXED: any).
  NodeCheck& activation(uint32_t i, uint64_t cols, uint32_t rows = GAINZ_ROWS_FIXED, uint32_t type = GAINZ_TYPE_F32) {
    if (ok() && node_.has_input(i))
      check_activation(node_.input(i), cols, rows, type, "an input activation has the wrong shape");
    return *this;
  }
  NodeCheck& output(uint32_t i, uint64_t cols, uint32_t rows, uint32_t type = GAINZ_TYPE_F32) {
    if (ok()) check_activation(node_.output(i), cols, rows, type, "an output has the wrong shape");
    return *this;
  }
  // Input i, if present, is a weight of k columns, n rows, `count` matrices (0: any).
  NodeCheck& weight(uint32_t i, uint64_t k, uint64_t n, uint64_t count = 1) {
    if (!ok() || !node_.has_input(i)) return *this;
    const Value& w = node_.input(i);
    require(w.kind == GAINZ_VALUE_WEIGHT && (k == 0 || w.dims[0] == k) && (n == 0 || w.dims[1] == n) &&
                (count == 0 || w.dims[2] == count) && w.dims[3] == 1,
            "a weight has the wrong shape");
    if (ok()) require(weight_bytes(w) != 0, "a weight's row is not a whole number of blocks");
    return *this;
  }
  NodeCheck& vector(uint32_t i, uint64_t n) {
    weight(i, n, 1);
    if (ok() && node_.has_input(i)) require(node_.input(i).type == GAINZ_TYPE_F32, "a vector is not f32");
    return *this;
  }
  NodeCheck& require(bool holds, const char* fault) {
    if (!holds && fault_ == nullptr) fault_ = fault;
    return *this;
  }
  bool ok() const { return fault_ == nullptr; }
  uint64_t cols(uint32_t i) const { return ok() ? node_.input(i).cols() : 0; }
  uint64_t dim(uint32_t i, size_t d) const { return ok() ? node_.input(i).dims[d] : 0; }
  uint32_t rows(uint32_t i) const { return ok() ? node_.input(i).rows : 0; }
  const gainz_page_group* group() {
    const gainz_attention_attr& a = node_.attr.attention;
    require(a.group < graph_.groups.size(), "no such page group");
    if (!ok()) return nullptr;
    const gainz_page_group& g = graph_.groups[a.group];
    require(a.layer < g.num_layers && a.num_kv_heads == g.num_kv_heads && a.k_head_dim == g.k_head_dim &&
                a.v_head_dim == g.v_head_dim,
            "layer, heads or head sizes are not those of the page group");
    return ok() ? &g : nullptr;
  }
  Status status() const { return ok() ? Status() : failure(GAINZ_STATUS_INVALID, "%s: %s", describe(node_).c_str(), fault_); }

 private:
  void check_activation(const Value& v, uint64_t cols, uint32_t rows, uint32_t type, const char* fault) {
    require(v.kind != GAINZ_VALUE_WEIGHT && v.type == type && (cols == 0 || v.cols() == cols) &&
                (rows == GAINZ_ROWS_FIXED || v.rows == rows),
            fault);
  }
  const Graph& graph_;
  const Node& node_;
  const char* fault_ = nullptr;
};

void check_norm(NodeCheck& c, const Node& node) {
  const bool layer = node.op == GAINZ_OP_LAYERNORM;
  c.counts(1, layer ? 3 : 2, 1).activation(0, 0);
  const uint64_t groups = node.attr.norm.num_groups;
  c.require(c.cols(0) % groups == 0 && (!layer || groups == 1), "num_groups does not divide the columns");
  c.require(std::isfinite(node.attr.norm.epsilon) && node.attr.norm.epsilon >= 0, "epsilon");
  const uint64_t dim = c.cols(0) / groups;
  c.vector(1, dim).vector(2, dim).output(0, c.cols(0), c.rows(0));
}

void check_rope(NodeCheck& c, const Node& node) {
  const gainz_rope_attr& a = node.attr.rope;
  c.counts(1, 2, 1).activation(0, uint64_t{a.num_heads} * a.head_dim, GAINZ_ROWS_TOKENS);
  c.require(a.mode == GAINZ_ROPE_INTERLEAVED || a.mode == GAINZ_ROPE_HALVES, "mode");
  c.require(a.num_heads != 0 && a.head_dim != 0 && a.rotary_dim >= 2 && a.rotary_dim % 2 == 0 && a.rotary_dim <= a.head_dim,
            "rotary_dim");
  c.require(std::isfinite(a.base) && a.base > 0 && std::isfinite(a.freq_scale) && std::isfinite(a.magnitude), "base or scale");
  c.require(a.yarn_mix == 0 || (std::isfinite(a.yarn_mix) && a.yarn_beta_fast > 0 && a.yarn_beta_slow > 0 &&
                                a.original_context > 0 && a.base != 1),
            "YaRN's parameters");
  c.vector(1, a.rotary_dim / 2).output(0, c.cols(0), GAINZ_ROWS_TOKENS);
}

void check_attention(NodeCheck& c, const Node& node) {
  const gainz_attention_attr& a = node.attr.attention;
  const bool write = node.op == GAINZ_OP_KV_WRITE;
  c.counts(write ? 2 : 1, write ? 2 : 1, write ? 0 : 1);
  const gainz_page_group* g = c.group();
  if (g == nullptr) return;
  if (write) {
    c.activation(0, uint64_t{a.num_kv_heads} * a.k_head_dim, GAINZ_ROWS_TOKENS);
    c.activation(1, uint64_t{a.num_kv_heads} * a.v_head_dim, GAINZ_ROWS_TOKENS);
    return;
  }
  c.require(a.num_heads != 0 && a.num_heads % a.num_kv_heads == 0, "num_heads is no multiple of num_kv_heads");
  c.require(g->window == 0 || (a.window != 0 && a.window <= g->window), "the window is wider than the page group's");
  c.require(std::isfinite(a.scale) && std::isfinite(a.softcap), "scale or softcap");
  c.activation(0, uint64_t{a.num_heads} * a.k_head_dim, GAINZ_ROWS_TOKENS);
  c.output(0, uint64_t{a.num_heads} * a.v_head_dim, GAINZ_ROWS_TOKENS);
}

void check_elementwise(NodeCheck& c, const Node& node) {
  const bool two = node.op == GAINZ_OP_ADD || node.op == GAINZ_OP_MUL || node.op == GAINZ_OP_GATED_ACTIVATION;
  c.counts(two ? 2 : 1, two ? 2 : 1, 1).activation(0, 0);
  if (node.op == GAINZ_OP_MUL && c.ok() && node.input(1).kind == GAINZ_VALUE_WEIGHT) {
    c.vector(1, c.cols(0));
  } else if (two) {
    c.activation(1, c.cols(0), c.rows(0));
  }
  if (node.op == GAINZ_OP_ACTIVATION || node.op == GAINZ_OP_GATED_ACTIVATION) {
    c.require(node.attr.activation.kind >= GAINZ_ACTIVATION_SILU && node.attr.activation.kind <= GAINZ_ACTIVATION_RELU2,
              "kind");
  }
  if (node.op == GAINZ_OP_SCALE || node.op == GAINZ_OP_SOFTCAP) {
    c.require(std::isfinite(node.attr.scale.scale) && (node.op == GAINZ_OP_SCALE || node.attr.scale.scale > 0), "scale");
  }
  if (node.op == GAINZ_OP_LOGIT_MASK) c.require(c.rows(0) == GAINZ_ROWS_OUTPUTS, "its rows are not R");
  c.output(0, c.cols(0), c.rows(0));
}

void check_moe_linear(NodeCheck& c, const Node& node) {
  const gainz_moe_linear_attr& a = node.attr.moe_linear;
  c.counts(3, 4, 1).weight(2, 0, 0, 0).require(a.num_chosen != 0, "num_chosen");
  c.require(a.rows_per_token == 1 || a.rows_per_token == a.num_chosen, "rows_per_token is neither 1 nor num_chosen");
  c.activation(0, c.dim(2, 0) * a.rows_per_token).activation(1, a.num_chosen, c.rows(0), GAINZ_TYPE_I32);
  c.activation(3, a.num_chosen, c.rows(0)).require(a.num_chosen <= c.dim(2, 2), "num_chosen is beyond the experts");
  c.output(0, c.dim(2, 1) * (node.has_input(3) ? 1 : a.num_chosen), c.rows(0));
}

void check_choice(NodeCheck& c, const Node& node) {
  const bool route = node.op == GAINZ_OP_MOE_ROUTE;
  const uint32_t k = route ? node.attr.moe_route.num_chosen : node.attr.top_k.num_chosen;
  c.counts(1, 1, 2).activation(0, 0);
  c.require(k != 0 && k <= c.cols(0), "num_chosen is 0 or beyond the columns");
  if (route) c.require(node.attr.moe_route.normalize <= 1 && std::isfinite(node.attr.moe_route.scale), "normalize or scale");
  c.output(0, k, c.rows(0), route ? GAINZ_TYPE_I32 : GAINZ_TYPE_F32)
      .output(1, k, c.rows(0), route ? GAINZ_TYPE_F32 : GAINZ_TYPE_I32);
}

template <class T>
Status read_as(const void* attributes, T* out, const Node& node) {
  if (attributes == nullptr) return failure(GAINZ_STATUS_INVALID, "%s: no attributes", describe(node).c_str());
  return read_struct(attributes, out, describe(node).c_str());
}

}  // namespace

Status read_attributes(const void* attributes, Node* node) {
  NodeAttributes& attr = node->attr;
  switch (node->op) {
    case GAINZ_OP_RMSNORM:
    case GAINZ_OP_LAYERNORM:
      GAINZ_SDK_TRY(read_as(attributes, &attr.norm, *node));
      if (attr.norm.num_groups == 0) attr.norm.num_groups = 1;
      return {};
    case GAINZ_OP_ROPE:
      return read_as(attributes, &attr.rope, *node);
    case GAINZ_OP_KV_WRITE:
    case GAINZ_OP_ATTENTION:
      return read_as(attributes, &attr.attention, *node);
    case GAINZ_OP_ACTIVATION:
    case GAINZ_OP_GATED_ACTIVATION:
      return read_as(attributes, &attr.activation, *node);
    case GAINZ_OP_SCALE:
    case GAINZ_OP_SOFTCAP:
      return read_as(attributes, &attr.scale, *node);
    case GAINZ_OP_MOE_ROUTE:
      return read_as(attributes, &attr.moe_route, *node);
    case GAINZ_OP_MOE_LINEAR:
      GAINZ_SDK_TRY(read_as(attributes, &attr.moe_linear, *node));
      if (attr.moe_linear.rows_per_token == 0) attr.moe_linear.rows_per_token = 1;
      return {};
    case GAINZ_OP_TOP_K:
      return read_as(attributes, &attr.top_k, *node);
    default:
      return {};
  }
}

Status check_node(const Graph& graph, const Node& node) {
  NodeCheck c(graph, node);
  switch (node.op) {
    case GAINZ_OP_EMBED:
      c.counts(1, 1, 1).weight(0, 0, 0).output(0, c.dim(0, 0), GAINZ_ROWS_TOKENS);
      break;
    case GAINZ_OP_RMSNORM:
    case GAINZ_OP_LAYERNORM:
      check_norm(c, node);
      break;
    case GAINZ_OP_LINEAR:
      c.counts(2, 3, 1).activation(0, 0).weight(1, c.cols(0), 0).vector(2, c.dim(1, 1)).output(0, c.dim(1, 1), c.rows(0));
      break;
    case GAINZ_OP_ROPE:
      check_rope(c, node);
      break;
    case GAINZ_OP_KV_WRITE:
    case GAINZ_OP_ATTENTION:
      check_attention(c, node);
      break;
    case GAINZ_OP_MOE_ROUTE:
    case GAINZ_OP_TOP_K:
      check_choice(c, node);
      break;
    case GAINZ_OP_MOE_LINEAR:
      check_moe_linear(c, node);
      break;
    case GAINZ_OP_GATHER_ROWS:
      c.counts(1, 1, 1).activation(0, 0, GAINZ_ROWS_TOKENS).output(0, c.cols(0), GAINZ_ROWS_OUTPUTS);
      break;
    default:
      check_elementwise(c, node);
      break;
  }
  return c.status();
}

}  // namespace gainz::sdk
