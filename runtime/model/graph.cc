#include "model/graph.h"

#include <cmath>
#include <deque>
#include <initializer_list>

#include "model/op_name.h"

namespace gainz {

const char* op_name(uint32_t op) {
  static constexpr const char* kNames[GAINZ_OP_COUNT] = {"an unknown operation",
                                                         "embed",
                                                         "rmsnorm",
                                                         "layernorm",
                                                         "linear",
                                                         "rope",
                                                         "kv_write",
                                                         "attention",
                                                         "activation",
                                                         "gated_activation",
                                                         "add",
                                                         "mul",
                                                         "scale",
                                                         "softcap",
                                                         "moe_route",
                                                         "moe_linear",
                                                         "gather_rows",
                                                         "logit_mask",
                                                         "top_k"};
  return kNames[op < GAINZ_OP_COUNT ? op : 0];
}

namespace {

union Attributes {
  gainz_norm_attr norm;
  gainz_rope_attr rope;
  gainz_attention_attr attention;
  gainz_activation_attr activation;
  gainz_scale_attr scale;
  gainz_moe_route_attr moe_route;
  gainz_moe_linear_attr moe_linear;
  gainz_top_k_attr top_k;
};

}  // namespace

struct Graph::Impl {
  std::deque<std::string> names;  // deques: what is pointed at stays where it is
  std::deque<Attributes> attributes;
  std::vector<gainz_value> values;
  std::vector<gainz_node> nodes;
  std::vector<gainz_page_group> groups;
  std::vector<uint32_t> inputs, outputs;
  uint32_t layer = GAINZ_NO_VALUE;
  Status status;
  gainz_graph view{};

  void fail(const std::string& what, const std::string& text) {
    if (!status.ok()) return;
    const std::string where = layer == GAINZ_NO_VALUE ? "" : " in layer " + std::to_string(layer);
    status = Status(Code::invalid, "graph: " + what + where + ": " + text);
  }

  ValueId new_value(uint32_t kind, uint32_t type, uint32_t rows, const std::vector<uint64_t>& dims, const char* name) {
    gainz_value value{sizeof(gainz_value), kind, type, rows, {1, 1, 1, 1}, name};
    for (size_t d = 0; d < dims.size() && d < 4; ++d) value.dims[d] = dims[d];
    values.push_back(value);
    return uint32_t(values.size() - 1);
  }

  ValueId new_activation(uint32_t op, uint32_t type, uint32_t rows, uint64_t num_columns) {
    return new_value(GAINZ_VALUE_NODE, type, rows, {num_columns, 0}, op_name(op));
  }

  gainz_node& new_node(uint32_t op, std::initializer_list<ValueId> in, std::initializer_list<ValueId> out) {
    gainz_node node{};
    node.struct_size = sizeof(node);
    node.op = op;
    for (const ValueId v : in) node.inputs[node.num_inputs++] = v;
    for (const ValueId v : out) node.outputs[node.num_outputs++] = v;
    while (node.num_inputs > 0 && node.inputs[node.num_inputs - 1] == kNoValue) --node.num_inputs;
    node.layer = layer;
    nodes.push_back(node);
    return nodes.back();
  }

  Attributes& attach(gainz_node& node) {
    Attributes& slot = attributes.emplace_back();
    node.attributes = &slot;
    return slot;
  }

  std::string text(ValueId v) const {
    if (v >= values.size()) return "nothing";
    const gainz_value& value = values[v];
    std::string out = std::string(value.name) + " [";
    if (value.kind != GAINZ_VALUE_WEIGHT)
      return out + (value.rows == GAINZ_ROWS_TOKENS ? "T, " : "R, ") + std::to_string(value.dims[0]) + "]";
    out += std::to_string(value.dims[0]) + ", " + std::to_string(value.dims[1]);
    if (value.dims[2] != 1) out += ", " + std::to_string(value.dims[2]);
    return out + "]";
  }
};

namespace {

// What one operation asks of its inputs; the first mistake goes to the graph. Sizes of 0 and rows FIXED mean "any".
template <class Impl>
class Check {
 public:
  Check(Impl& graph, uint32_t op) : graph_(graph), op_(op) {}

  Check& activation(ValueId v, const char* role, uint64_t num_columns = 0, uint32_t rows = GAINZ_ROWS_FIXED,
                    uint32_t type = GAINZ_TYPE_F32) {
    if (!known(v, role)) return *this;
    const gainz_value& value = graph_.values[v];
    if (value.kind == GAINZ_VALUE_WEIGHT || value.type != type)
      return wrong(v, role, type == GAINZ_TYPE_F32 ? "an f32 activation" : "ids");
    if (num_columns != 0 && value.dims[0] != num_columns) return wrong(v, role, std::to_string(num_columns) + " columns");
    if (rows != GAINZ_ROWS_FIXED && value.rows != rows) return wrong(v, role, rows == GAINZ_ROWS_TOKENS ? "T rows" : "R rows");
    return *this;
  }
  Check& weight(ValueId v, const char* role, uint64_t row_length, uint64_t num_rows = 0, uint64_t num_matrices = 1) {
    if (!known(v, role)) return *this;
    const gainz_value& w = graph_.values[v];
    if (w.kind != GAINZ_VALUE_WEIGHT) return wrong(v, role, "a weight");
    if (row_length != 0 && w.dims[0] != row_length) return wrong(v, role, "rows of " + std::to_string(row_length));
    if (num_rows != 0 && w.dims[1] != num_rows) return wrong(v, role, std::to_string(num_rows) + " rows");
    if ((num_matrices != 0 && w.dims[2] != num_matrices) || w.dims[3] != 1)
      return wrong(v, role, std::to_string(num_matrices) + " matrices");
    return *this;
  }
  Check& vector(ValueId v, const char* role, uint64_t length) {  // optional
    if (v == kNoValue) return *this;
    weight(v, role, length, 1);
    if (ok_ && graph_.values[v].type != GAINZ_TYPE_F32) return wrong(v, role, "f32");
    return *this;
  }
  Check& that(bool holds, const std::string& text) {
    if (ok_ && !holds) fail(text);
    return *this;
  }
  bool ok() const { return ok_ && graph_.status.ok(); }

 private:
  bool known(ValueId v, const char* role) {
    if (!ok_) return false;
    if (v < graph_.values.size()) return true;
    fail(std::string(role) + " is absent");
    return false;
  }
  Check& wrong(ValueId v, const char* role, const std::string& wanted) {
    fail(std::string(role) + " is " + graph_.text(v) + ", not " + wanted);
    return *this;
  }
  void fail(const std::string& text) {
    ok_ = false;
    graph_.fail(op_name(op_), text);
  }
  Impl& graph_;
  uint32_t op_;
  bool ok_ = true;
};

bool finite(float x) { return std::isfinite(x); }

}  // namespace

Graph::Graph() : impl_(std::make_unique<Impl>()) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

void Graph::set_layer(uint32_t layer) { impl_->layer = layer; }

ValueId Graph::weight(const std::string& name, uint32_t type, std::vector<uint64_t> dims) {
  bool fits = !dims.empty() && dims.size() <= 4;
  for (const uint64_t dim : dims) fits = fits && dim != 0;
  if (!fits) impl_->fail("weight " + name, "it has a dimension of 0, or not 1 to 4 dimensions");
  return impl_->new_value(GAINZ_VALUE_WEIGHT, type, GAINZ_ROWS_FIXED, dims, impl_->names.emplace_back(name).c_str());
}

ValueId Graph::input(const std::string& name, uint32_t type, uint32_t rows, uint64_t num_columns) {
  const bool fits = (type == GAINZ_TYPE_F32 || type == GAINZ_TYPE_I32) &&
                    (rows == GAINZ_ROWS_TOKENS || rows == GAINZ_ROWS_OUTPUTS) && num_columns != 0;
  if (!fits) impl_->fail("input " + name, "an input is [T or R, columns] of f32 or i32");
  const ValueId v = impl_->new_value(GAINZ_VALUE_INPUT, type, rows, {num_columns, 0}, impl_->names.emplace_back(name).c_str());
  impl_->inputs.push_back(v);
  return v;
}

uint32_t Graph::page_group(const gainz_page_group& group) {
  if (group.num_layers == 0 || group.num_kv_heads == 0 || group.k_head_dim == 0 || group.v_head_dim == 0)
    impl_->fail("page group", "a size is 0");
  impl_->groups.push_back(group);
  impl_->groups.back().struct_size = sizeof(gainz_page_group);
  return uint32_t(impl_->groups.size() - 1);
}

void Graph::output(ValueId value) {
  if (value >= impl_->values.size() || impl_->values[value].kind == GAINZ_VALUE_WEIGHT)
    return impl_->fail("output", impl_->text(value) + " is no activation");
  impl_->outputs.push_back(value);
}

ValueId Graph::embed(ValueId w) {
  if (!Check(*impl_, GAINZ_OP_EMBED).weight(w, "w", 0).ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_EMBED, GAINZ_TYPE_F32, GAINZ_ROWS_TOKENS, impl_->values[w].dims[0]);
  impl_->new_node(GAINZ_OP_EMBED, {w}, {out});
  return out;
}

ValueId Graph::rmsnorm(ValueId x, ValueId w, float epsilon, uint32_t num_groups) {
  Check check(*impl_, GAINZ_OP_RMSNORM);
  const uint64_t columns = num_columns(x);
  check.activation(x, "x").that(num_groups != 0 && columns % std::max(num_groups, 1u) == 0,
                                std::to_string(num_groups) + " groups do not divide " + std::to_string(columns) + " columns");
  if (!check.that(finite(epsilon) && epsilon >= 0, "epsilon is not a number of at least 0")
           .vector(w, "w", columns / std::max(num_groups, 1u))
           .ok())
    return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_RMSNORM, GAINZ_TYPE_F32, impl_->values[x].rows, columns);
  impl_->attach(impl_->new_node(GAINZ_OP_RMSNORM, {x, w}, {out})).norm = {sizeof(gainz_norm_attr), num_groups, epsilon};
  return out;
}

ValueId Graph::layernorm(ValueId x, ValueId w, ValueId b, float epsilon) {
  const uint64_t columns = num_columns(x);
  Check check(*impl_, GAINZ_OP_LAYERNORM);
  check.activation(x, "x").vector(w, "w", columns).vector(b, "b", columns);
  if (!check.that(finite(epsilon) && epsilon >= 0, "epsilon is not a number of at least 0").ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_LAYERNORM, GAINZ_TYPE_F32, impl_->values[x].rows, columns);
  impl_->attach(impl_->new_node(GAINZ_OP_LAYERNORM, {x, w, b}, {out})).norm = {sizeof(gainz_norm_attr), 1, epsilon};
  return out;
}

ValueId Graph::linear(ValueId x, ValueId w, ValueId b) {
  Check check(*impl_, GAINZ_OP_LINEAR);
  if (!check.activation(x, "x").weight(w, "w", num_columns(x)).ok()) return kNoValue;
  const uint64_t n = impl_->values[w].dims[1];
  if (!check.vector(b, "b", n).ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_LINEAR, GAINZ_TYPE_F32, impl_->values[x].rows, n);
  impl_->new_node(GAINZ_OP_LINEAR, {x, w, b}, {out});
  return out;
}

ValueId Graph::rope(ValueId x, const gainz_rope_attr& attr, ValueId factors) {
  Check check(*impl_, GAINZ_OP_ROPE);
  check.activation(x, "x", uint64_t{attr.num_heads} * attr.head_dim, GAINZ_ROWS_TOKENS);
  check.that(attr.mode == GAINZ_ROPE_INTERLEAVED || attr.mode == GAINZ_ROPE_HALVES, "mode " + std::to_string(attr.mode));
  check.that(
      attr.rotary_dim >= 2 && attr.rotary_dim % 2 == 0 && attr.rotary_dim <= attr.head_dim,
      "rotary_dim " + std::to_string(attr.rotary_dim) + " is odd, 0 or beyond head_dim " + std::to_string(attr.head_dim));
  check.that(finite(attr.base) && attr.base > 0 && finite(attr.freq_scale) && finite(attr.magnitude) && finite(attr.yarn_mix),
             "base or a scale is not a usable number");
  if (!check.vector(factors, "factors", attr.rotary_dim / 2).ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_ROPE, GAINZ_TYPE_F32, GAINZ_ROWS_TOKENS, num_columns(x));
  gainz_rope_attr& slot = impl_->attach(impl_->new_node(GAINZ_OP_ROPE, {x, factors}, {out})).rope;
  slot = attr;
  slot.struct_size = sizeof(attr);
  return out;
}

void Graph::kv_write(ValueId k, ValueId v, const gainz_attention_attr& attr) {
  Check check(*impl_, GAINZ_OP_KV_WRITE);
  check.that(attr.group < impl_->groups.size(), "no page group " + std::to_string(attr.group));
  if (!check.ok()) return;
  const gainz_page_group& group = impl_->groups[attr.group];
  check.that(attr.layer < group.num_layers,
             "layer " + std::to_string(attr.layer) + " of a page group of " + std::to_string(group.num_layers));
  check.that(
      attr.num_kv_heads == group.num_kv_heads && attr.k_head_dim == group.k_head_dim && attr.v_head_dim == group.v_head_dim,
      "heads are not those of the page group");
  check.activation(k, "k", uint64_t{attr.num_kv_heads} * attr.k_head_dim, GAINZ_ROWS_TOKENS);
  if (!check.activation(v, "v", uint64_t{attr.num_kv_heads} * attr.v_head_dim, GAINZ_ROWS_TOKENS).ok()) return;
  gainz_attention_attr& slot = impl_->attach(impl_->new_node(GAINZ_OP_KV_WRITE, {k, v}, {})).attention;
  slot = attr;
  slot.struct_size = sizeof(attr);
}

ValueId Graph::attention(ValueId q, const gainz_attention_attr& attr) {
  Check check(*impl_, GAINZ_OP_ATTENTION);
  bool written = false;
  if (!impl_->nodes.empty() && impl_->nodes.back().op == GAINZ_OP_KV_WRITE) {
    const auto& kv = static_cast<const Attributes*>(impl_->nodes.back().attributes)->attention;
    written = kv.group == attr.group && kv.layer == attr.layer;
  }
  check.that(written, "the node before it is not the kv_write of its page group and layer");
  if (!check.ok()) return kNoValue;
  const gainz_page_group& group = impl_->groups[attr.group];
  check.that(
      attr.num_kv_heads == group.num_kv_heads && attr.k_head_dim == group.k_head_dim && attr.v_head_dim == group.v_head_dim,
      "heads are not those of the page group");
  check.that(attr.num_kv_heads != 0 && attr.num_heads % std::max(attr.num_kv_heads, 1u) == 0,
             std::to_string(attr.num_heads) + " heads over " + std::to_string(attr.num_kv_heads) + " KV heads");
  check.that(attr.window == group.window,
             "window " + std::to_string(attr.window) + " is not the page group's " + std::to_string(group.window));
  check.that(finite(attr.scale) && finite(attr.softcap) && attr.softcap >= 0, "scale or softcap is not a usable number");
  if (!check.activation(q, "q", uint64_t{attr.num_heads} * attr.k_head_dim, GAINZ_ROWS_TOKENS).ok()) return kNoValue;
  const ValueId out =
      impl_->new_activation(GAINZ_OP_ATTENTION, GAINZ_TYPE_F32, GAINZ_ROWS_TOKENS, uint64_t{attr.num_heads} * attr.v_head_dim);
  gainz_attention_attr& slot = impl_->attach(impl_->new_node(GAINZ_OP_ATTENTION, {q}, {out})).attention;
  slot = attr;
  slot.struct_size = sizeof(attr);
  return out;
}

ValueId Graph::activation(ValueId x, uint32_t kind) {
  Check check(*impl_, GAINZ_OP_ACTIVATION);
  check.that(kind >= GAINZ_ACTIVATION_SILU && kind <= GAINZ_ACTIVATION_RELU2, "kind " + std::to_string(kind));
  if (!check.activation(x, "x").ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_ACTIVATION, GAINZ_TYPE_F32, impl_->values[x].rows, num_columns(x));
  impl_->attach(impl_->new_node(GAINZ_OP_ACTIVATION, {x}, {out})).activation = {sizeof(gainz_activation_attr), kind};
  return out;
}

ValueId Graph::gated_activation(ValueId gate, ValueId up, uint32_t kind) {
  Check check(*impl_, GAINZ_OP_GATED_ACTIVATION);
  check.that(kind >= GAINZ_ACTIVATION_SILU && kind <= GAINZ_ACTIVATION_RELU2, "kind " + std::to_string(kind));
  if (!check.activation(gate, "gate").ok() || !check.activation(up, "up", num_columns(gate), impl_->values[gate].rows).ok())
    return kNoValue;
  const ValueId out =
      impl_->new_activation(GAINZ_OP_GATED_ACTIVATION, GAINZ_TYPE_F32, impl_->values[gate].rows, num_columns(gate));
  impl_->attach(impl_->new_node(GAINZ_OP_GATED_ACTIVATION, {gate, up}, {out})).activation = {sizeof(gainz_activation_attr),
                                                                                             kind};
  return out;
}

ValueId Graph::add(ValueId a, ValueId b) {
  Check check(*impl_, GAINZ_OP_ADD);
  if (!check.activation(a, "a").ok() || !check.activation(b, "b", num_columns(a), impl_->values[a].rows).ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_ADD, GAINZ_TYPE_F32, impl_->values[a].rows, num_columns(a));
  impl_->new_node(GAINZ_OP_ADD, {a, b}, {out});
  return out;
}

ValueId Graph::mul(ValueId a, ValueId b) {
  Check check(*impl_, GAINZ_OP_MUL);
  if (!check.activation(a, "a").ok()) return kNoValue;
  const bool is_weight = b < impl_->values.size() && impl_->values[b].kind == GAINZ_VALUE_WEIGHT;
  if (is_weight)
    check.vector(b, "b", num_columns(a));
  else
    check.activation(b, "b", num_columns(a), impl_->values[a].rows);
  if (!check.ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_MUL, GAINZ_TYPE_F32, impl_->values[a].rows, num_columns(a));
  impl_->new_node(GAINZ_OP_MUL, {a, b}, {out});
  return out;
}

ValueId Graph::scale(ValueId x, float factor) {
  if (!Check(*impl_, GAINZ_OP_SCALE).activation(x, "x").that(finite(factor), "the factor is not finite").ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_SCALE, GAINZ_TYPE_F32, impl_->values[x].rows, num_columns(x));
  impl_->attach(impl_->new_node(GAINZ_OP_SCALE, {x}, {out})).scale = {sizeof(gainz_scale_attr), factor};
  return out;
}

ValueId Graph::softcap(ValueId x, float cap) {
  if (!Check(*impl_, GAINZ_OP_SOFTCAP).activation(x, "x").that(finite(cap) && cap > 0, "the cap is not above 0").ok())
    return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_SOFTCAP, GAINZ_TYPE_F32, impl_->values[x].rows, num_columns(x));
  impl_->attach(impl_->new_node(GAINZ_OP_SOFTCAP, {x}, {out})).scale = {sizeof(gainz_scale_attr), cap};
  return out;
}

std::pair<ValueId, ValueId> Graph::moe_route(ValueId x, uint32_t num_chosen, bool normalize, float scale) {
  Check check(*impl_, GAINZ_OP_MOE_ROUTE);
  check.activation(x, "x", 0, GAINZ_ROWS_TOKENS).that(finite(scale), "the scale is not finite");
  const uint64_t num_experts = num_columns(x);
  check.that(num_chosen != 0 && num_chosen <= num_experts,
             std::to_string(num_chosen) + " of " + std::to_string(num_experts) + " experts");
  if (!check.ok()) return {kNoValue, kNoValue};
  const ValueId ids = impl_->new_activation(GAINZ_OP_MOE_ROUTE, GAINZ_TYPE_I32, GAINZ_ROWS_TOKENS, num_chosen);
  const ValueId weights = impl_->new_activation(GAINZ_OP_MOE_ROUTE, GAINZ_TYPE_F32, GAINZ_ROWS_TOKENS, num_chosen);
  impl_->attach(impl_->new_node(GAINZ_OP_MOE_ROUTE, {x}, {ids, weights})).moe_route = {sizeof(gainz_moe_route_attr), num_chosen,
                                                                                       normalize, scale};
  return {ids, weights};
}

ValueId Graph::moe_linear(ValueId x, ValueId ids, ValueId w, uint32_t rows_per_token, ValueId weights) {
  Check check(*impl_, GAINZ_OP_MOE_LINEAR);
  check.activation(x, "x", 0, GAINZ_ROWS_TOKENS)
      .activation(ids, "ids", 0, GAINZ_ROWS_TOKENS, GAINZ_TYPE_I32)
      .weight(w, "w", 0, 0, 0);
  if (!check.ok()) return kNoValue;
  const gainz_value& matrix = impl_->values[w];
  const auto num_chosen = uint32_t(num_columns(ids));
  check.that(rows_per_token == 1 || rows_per_token == num_chosen,
             std::to_string(rows_per_token) + " rows a token, neither 1 nor " + std::to_string(num_chosen));
  check.that(num_chosen <= matrix.dims[2], std::to_string(num_chosen) + " of " + std::to_string(matrix.dims[2]) + " experts");
  check.activation(x, "x", matrix.dims[0] * rows_per_token);
  if (weights != kNoValue) check.activation(weights, "weights", num_chosen, GAINZ_ROWS_TOKENS);
  if (!check.ok()) return kNoValue;
  const uint64_t columns = matrix.dims[1] * (weights == kNoValue ? num_chosen : 1);
  const ValueId out = impl_->new_activation(GAINZ_OP_MOE_LINEAR, GAINZ_TYPE_F32, GAINZ_ROWS_TOKENS, columns);
  impl_->attach(impl_->new_node(GAINZ_OP_MOE_LINEAR, {x, ids, w, weights}, {out})).moe_linear = {sizeof(gainz_moe_linear_attr),
                                                                                                 num_chosen, rows_per_token};
  return out;
}

ValueId Graph::gather_rows(ValueId x) {
  if (!Check(*impl_, GAINZ_OP_GATHER_ROWS).activation(x, "x", 0, GAINZ_ROWS_TOKENS).ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_GATHER_ROWS, GAINZ_TYPE_F32, GAINZ_ROWS_OUTPUTS, num_columns(x));
  impl_->new_node(GAINZ_OP_GATHER_ROWS, {x}, {out});
  return out;
}

ValueId Graph::logit_mask(ValueId x) {
  if (!Check(*impl_, GAINZ_OP_LOGIT_MASK).activation(x, "x", 0, GAINZ_ROWS_OUTPUTS).ok()) return kNoValue;
  const ValueId out = impl_->new_activation(GAINZ_OP_LOGIT_MASK, GAINZ_TYPE_F32, GAINZ_ROWS_OUTPUTS, num_columns(x));
  impl_->new_node(GAINZ_OP_LOGIT_MASK, {x}, {out});
  return out;
}

std::pair<ValueId, ValueId> Graph::top_k(ValueId x, uint32_t num_chosen) {
  Check check(*impl_, GAINZ_OP_TOP_K);
  check.activation(x, "x", 0, GAINZ_ROWS_OUTPUTS);
  check.that(num_chosen != 0 && num_chosen <= num_columns(x),
             std::to_string(num_chosen) + " of " + std::to_string(num_columns(x)) + " columns");
  if (!check.ok()) return {kNoValue, kNoValue};
  const ValueId values = impl_->new_activation(GAINZ_OP_TOP_K, GAINZ_TYPE_F32, GAINZ_ROWS_OUTPUTS, num_chosen);
  const ValueId ids = impl_->new_activation(GAINZ_OP_TOP_K, GAINZ_TYPE_I32, GAINZ_ROWS_OUTPUTS, num_chosen);
  impl_->attach(impl_->new_node(GAINZ_OP_TOP_K, {x}, {values, ids})).top_k = {sizeof(gainz_top_k_attr), num_chosen};
  return {values, ids};
}

uint64_t Graph::num_columns(ValueId value) const { return value < impl_->values.size() ? impl_->values[value].dims[0] : 0; }

Status Graph::finish() {
  GAINZ_TRY(impl_->status);
  if (impl_->nodes.empty() || impl_->outputs.empty()) return {Code::invalid, "graph: it has no node or no output"};
  impl_->view = {sizeof(gainz_graph),
                 uint32_t(impl_->values.size()),
                 uint32_t(impl_->nodes.size()),
                 uint32_t(impl_->groups.size()),
                 impl_->values.data(),
                 sizeof(gainz_value),
                 impl_->nodes.data(),
                 sizeof(gainz_node),
                 impl_->groups.data(),
                 sizeof(gainz_page_group),
                 impl_->inputs.data(),
                 impl_->outputs.data(),
                 uint32_t(impl_->inputs.size()),
                 uint32_t(impl_->outputs.size())};
  return {};
}

const gainz_graph* Graph::view() const { return &impl_->view; }

}  // namespace gainz
