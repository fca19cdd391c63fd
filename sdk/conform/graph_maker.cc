// Graphs and the toy transformer of plugin_harness.h.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include "conform/harness.h"
#include "reference/dequantize.h"
#include "reference/half.h"

namespace gainz::conform {

uint32_t GraphBuilder::add_value(uint32_t kind, uint32_t type, uint32_t rows, std::vector<uint64_t> dims,
                                 const std::string& name) {
  names_.push_back(name);
  gainz_value value{};
  value.struct_size = sizeof value;
  value.kind = kind;
  value.type = type;
  value.rows = rows;
  dims.resize(4, 1);
  std::copy(dims.begin(), dims.end(), value.dims);
  value.name = names_.back().c_str();
  values_.push_back(value);
  return static_cast<uint32_t>(values_.size() - 1);
}

uint32_t GraphBuilder::weight(const std::string& name, uint32_t type, std::vector<uint64_t> dims, std::vector<uint8_t> bytes) {
  const uint32_t v = add_value(GAINZ_VALUE_WEIGHT, type, GAINZ_ROWS_FIXED, std::move(dims), name);
  bytes_[v] = std::move(bytes);
  return v;
}

uint32_t GraphBuilder::weight_f32(const std::string& name, std::vector<uint64_t> dims, const std::vector<float>& data) {
  std::vector<uint8_t> bytes(data.size() * sizeof(float));
  std::memcpy(bytes.data(), data.data(), bytes.size());
  return weight(name, GAINZ_TYPE_F32, std::move(dims), std::move(bytes));
}

// A finite f16 in about [scale / 2, scale]; gives the value.
static float put_f16(uint8_t* at, float scale, std::mt19937* random) {
  const uint16_t half = reference::f32_to_f16(scale * (0.5f + 0.5f * static_cast<float>((*random)() & 0x3FF) / 1024.0f));
  std::memcpy(at, &half, sizeof half);
  return reference::f16_to_f32(half);
}

// Where the f16 scales stand in a block, and how large a code gets (the block's value is scale * code).
struct BlockScales {
  std::vector<int> places;
  float largest_code;
  float middle_code = 0;  // the second scale over the first, where it is one of minima
};
static BlockScales block_scales(uint32_t type) {
  switch (type) {
    case GAINZ_TYPE_Q4_0:
      return {{0}, 8};
    case GAINZ_TYPE_Q4_1:
      return {{0, 2}, 15, -7.5f};
    case GAINZ_TYPE_Q5_0:
      return {{0}, 16};
    case GAINZ_TYPE_Q5_1:
      return {{0, 2}, 31, -15.5f};
    case GAINZ_TYPE_Q8_0:
      return {{0}, 127};
    case GAINZ_TYPE_IQ4_NL:
      return {{0}, 127};
    case GAINZ_TYPE_Q2_K:
      return {{80, 82}, 45, 1.5f};
    case GAINZ_TYPE_Q3_K:
      return {{108}, 128};
    case GAINZ_TYPE_Q4_K:
      return {{0, 2}, 945, 7.5f};
    case GAINZ_TYPE_Q5_K:
      return {{0, 2}, 1953, 15.5f};
    case GAINZ_TYPE_Q6_K:
      return {{208}, 4096};
    case GAINZ_TYPE_IQ4_XS:
      return {{0}, 4064};
    default:
      throw std::runtime_error("random_weight: no such type");
  }
}

uint32_t GraphBuilder::random_weight(const std::string& name, uint32_t type, std::vector<uint64_t> dims, float scale) {
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937 random(seed);
  uint64_t rows = 1;
  for (size_t d = 1; d < dims.size(); ++d) rows *= dims[d];
  const uint64_t count = dims[0] * rows;
  std::vector<uint8_t> bytes(reference::row_bytes(type, dims[0]) * rows);
  if (bytes.empty()) throw std::runtime_error("random_weight: rows are not whole blocks");
  auto uniform = [&] { return scale * (static_cast<float>(random() & 0xFFFF) / 32768.0f - 1.0f); };
  const uint32_t block_bytes = reference::type_traits(type).block_bytes;
  if (type == GAINZ_TYPE_F32 || type == GAINZ_TYPE_BF16) {
    for (uint64_t i = 0; i < count; ++i) {
      const float value = uniform();
      const auto* raw = reinterpret_cast<const uint8_t*>(&value);
      std::memcpy(bytes.data() + i * block_bytes, raw + 4 - block_bytes, block_bytes);  // bf16: the upper half
    }
  } else if (type == GAINZ_TYPE_F16) {
    for (uint64_t i = 0; i < count; ++i) {
      put_f16(bytes.data() + 2 * i, scale, &random);
      if (random() & 1) bytes[2 * i + 1] |= 0x80;
    }
  } else {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    for (uint64_t b = 0; b < bytes.size(); b += block_bytes) {
      if (type == GAINZ_TYPE_MXFP4) {
        bytes[b] = static_cast<uint8_t>(127 + std::ilogb(scale) - 2);
        continue;
      }
      const BlockScales scales = block_scales(type);
      float first = 0;
      for (int place : scales.places) {
        const float d = put_f16(bytes.data() + b + place, scale / scales.largest_code, &random);
        if (scales.middle_code == 0 || place == scales.places[0]) {
          first = d;
          continue;
        }
        const uint16_t low = reference::f32_to_f16(first * scales.middle_code);  // values on both sides of zero
        std::memcpy(bytes.data() + b + place, &low, sizeof low);
      }
    }
  }
  return weight(name, type, std::move(dims), std::move(bytes));
}

uint32_t GraphBuilder::input(const std::string& name, uint64_t cols, uint32_t rows, uint32_t type) {
  const uint32_t v = add_value(GAINZ_VALUE_INPUT, type, rows, {cols, 0}, name);
  inputs_.push_back(v);
  return v;
}

uint32_t GraphBuilder::add_node(uint32_t op, std::vector<uint32_t> inputs, std::vector<uint64_t> out_cols, const void* attr,
                                size_t attr_bytes, uint32_t rows) {
  gainz_node node{};
  node.struct_size = sizeof node;
  node.op = op;
  node.num_inputs = static_cast<uint32_t>(inputs.size());
  node.num_outputs = static_cast<uint32_t>(out_cols.size());
  std::copy(inputs.begin(), inputs.end(), node.inputs);
  for (uint32_t i = 0; i < node.num_outputs; ++i) {
    const bool ids = (op == GAINZ_OP_MOE_ROUTE && i == 0) || (op == GAINZ_OP_TOP_K && i == 1);
    const std::string name = "op" + std::to_string(op) + "." + std::to_string(nodes_.size());
    node.outputs[i] = add_value(GAINZ_VALUE_NODE, ids ? GAINZ_TYPE_I32 : GAINZ_TYPE_F32, rows, {out_cols[i], 0}, name);
  }
  if (attr != nullptr) {
    attributes_.emplace_back((attr_bytes + 7) / 8);
    std::memcpy(attributes_.back().data(), attr, attr_bytes);
    node.attributes = attributes_.back().data();
  }
  node.layer = layer_;
  nodes_.push_back(node);
  return node.num_outputs != 0 ? node.outputs[0] : GAINZ_NO_VALUE;
}

void GraphBuilder::add_raw_value(const gainz_value& value, const std::string& name, std::vector<uint8_t> bytes) {
  names_.push_back(name);
  values_.push_back(value);
  values_.back().name = names_.back().c_str();
  if (value.kind == GAINZ_VALUE_WEIGHT) bytes_[static_cast<uint32_t>(values_.size() - 1)] = std::move(bytes);
}

void GraphBuilder::add_raw_node(gainz_node node, const std::vector<uint8_t>& attributes) {
  if (!attributes.empty()) {
    attributes_.emplace_back((attributes.size() + 7) / 8);
    std::memcpy(attributes_.back().data(), attributes.data(), attributes.size());
    node.attributes = attributes_.back().data();
  }
  nodes_.push_back(node);
}

const gainz_graph* GraphBuilder::graph() {
  graph_ = {};
  graph_.struct_size = sizeof graph_;
  graph_.num_values = static_cast<uint32_t>(values_.size());
  graph_.num_nodes = static_cast<uint32_t>(nodes_.size());
  graph_.num_page_groups = static_cast<uint32_t>(groups_.size());
  for (gainz_page_group& group : groups_) group.struct_size = sizeof group;
  graph_.values = values_.data();
  graph_.value_stride = sizeof(gainz_value);
  graph_.nodes = nodes_.data();
  graph_.node_stride = sizeof(gainz_node);
  graph_.page_groups = groups_.data();
  graph_.page_group_stride = sizeof(gainz_page_group);
  graph_.inputs = inputs_.data();
  graph_.num_inputs = static_cast<uint32_t>(inputs_.size());
  graph_.outputs = outputs_.data();
  graph_.num_outputs = static_cast<uint32_t>(outputs_.size());
  return &graph_;
}

const gainz_weights* GraphBuilder::weights() {
  weights_.struct_size = sizeof weights_;
  weights_.ctx = this;
  weights_.map = [](void* ctx, uint32_t value, const void** out_bytes, uint64_t* out_num_bytes, gainz_error*) -> gainz_status {
    auto* self = static_cast<GraphBuilder*>(ctx);
    const auto it = self->bytes_.find(value);
    if (it == self->bytes_.end()) return GAINZ_STATUS_INVALID;
    *out_bytes = it->second.data();
    *out_num_bytes = it->second.size();
    return GAINZ_STATUS_OK;
  };
  weights_.release = [](void*, uint32_t) {};
  weights_.progress = [](void* ctx, uint64_t, uint64_t) -> int32_t {
    auto* self = static_cast<GraphBuilder*>(ctx);
    return self->cancel_after >= 0 && self->cancel_after-- == 0 ? 1 : 0;
  };
  return &weights_;
}

static gainz_attention_attr toy_attention(const ToyShape& s, uint32_t layer) {
  const bool windowed = s.window != 0 && layer % 2 == 1;
  gainz_attention_attr attr{};
  attr.group = windowed ? 1 : 0;
  attr.layer = s.window != 0 ? layer / 2 : layer;
  attr.num_heads = static_cast<uint32_t>(s.num_heads);
  attr.num_kv_heads = static_cast<uint32_t>(s.num_kv_heads);
  attr.k_head_dim = attr.v_head_dim = static_cast<uint32_t>(s.head_dim);
  attr.window = windowed ? s.window : 0;
  attr.scale = 1.0f / std::sqrt(static_cast<float>(s.head_dim));
  attr.softcap = s.softcap;
  return attr;
}

static uint32_t toy_heads(GraphBuilder* g, const ToyShape& s, uint32_t x, const std::string& name, uint64_t heads) {
  const uint64_t cols = heads * s.head_dim;
  uint32_t y = g->node(GAINZ_OP_LINEAR, {x, g->random_weight(name, s.weight_type, {s.width, cols})}, {cols});
  if (s.qk_norm) {
    gainz_norm_attr norm{0, static_cast<uint32_t>(heads), 1e-6f};
    y = g->node(GAINZ_OP_RMSNORM, {y, g->random_weight(name + "_norm", GAINZ_TYPE_F32, {s.head_dim}, 1)}, {cols}, norm);
  }
  gainz_rope_attr rope{};
  rope.mode = GAINZ_ROPE_HALVES;
  rope.num_heads = static_cast<uint32_t>(heads);
  rope.head_dim = rope.rotary_dim = static_cast<uint32_t>(s.head_dim);
  rope.base = 10000;
  rope.freq_scale = 1;
  rope.magnitude = 1;
  return g->node(GAINZ_OP_ROPE, {y}, {cols}, rope);
}

static uint32_t toy_ffn(GraphBuilder* g, const ToyShape& s, uint32_t x, const std::string& at) {
  const gainz_activation_attr silu{0, GAINZ_ACTIVATION_SILU};
  if (s.num_experts == 0) {
    const uint32_t gate =
        g->node(GAINZ_OP_LINEAR, {x, g->random_weight(at + "gate", s.weight_type, {s.width, s.ffn})}, {s.ffn});
    const uint32_t up = g->node(GAINZ_OP_LINEAR, {x, g->random_weight(at + "up", s.weight_type, {s.width, s.ffn})}, {s.ffn});
    const uint32_t h = g->node(GAINZ_OP_GATED_ACTIVATION, {gate, up}, {s.ffn}, silu);
    return g->node(GAINZ_OP_LINEAR, {h, g->random_weight(at + "down", s.weight_type, {s.ffn, s.width})}, {s.width});
  }
  const uint64_t e = s.num_experts;
  const uint32_t router = g->node(GAINZ_OP_LINEAR, {x, g->random_weight(at + "router", GAINZ_TYPE_F32, {s.width, e}, 1)}, {e});
  const uint32_t ids = g->node(GAINZ_OP_MOE_ROUTE, {router}, {2, 2}, gainz_moe_route_attr{0, 2, 1, 1});
  const gainz_moe_linear_attr shared{0, 2, 1};
  const gainz_moe_linear_attr apart{0, 2, 2};
  const uint32_t gate = g->node(
      GAINZ_OP_MOE_LINEAR, {x, ids, g->random_weight(at + "gates", s.weight_type, {s.width, s.ffn, e})}, {2 * s.ffn}, shared);
  const uint32_t up = g->node(GAINZ_OP_MOE_LINEAR, {x, ids, g->random_weight(at + "ups", s.weight_type, {s.width, s.ffn, e})},
                              {2 * s.ffn}, shared);
  const uint32_t h = g->node(GAINZ_OP_GATED_ACTIVATION, {gate, up}, {2 * s.ffn}, silu);
  return g->node(GAINZ_OP_MOE_LINEAR, {h, ids, g->random_weight(at + "downs", s.weight_type, {s.ffn, s.width, e}), ids + 1},
                 {s.width}, apart);
}

void build_toy(GraphBuilder* g, const ToyShape& s) {
  const auto heads = static_cast<uint32_t>(s.num_kv_heads);
  const auto dim = static_cast<uint32_t>(s.head_dim);
  const uint32_t windowed = s.window != 0 ? s.num_layers / 2 : 0;
  g->group({0, s.num_layers - windowed, heads, dim, dim, 0});
  if (windowed != 0) g->group({0, windowed, heads, dim, dim, s.window});
  const gainz_norm_attr norm{0, 1, 1e-5f};
  uint32_t x = g->node(GAINZ_OP_EMBED, {g->random_weight("embed", s.weight_type, {s.width, s.vocabulary}, 1)}, {s.width});
  for (uint32_t layer = 0; layer < s.num_layers; ++layer) {
    g->set_layer(layer);
    const std::string at = "blk." + std::to_string(layer) + ".";
    const gainz_attention_attr attention = toy_attention(s, layer);
    uint32_t y = g->node(GAINZ_OP_RMSNORM, {x, g->random_weight(at + "norm", GAINZ_TYPE_F32, {s.width}, 1)}, {s.width}, norm);
    const uint32_t q = toy_heads(g, s, y, at + "q", s.num_heads);
    const uint32_t k = toy_heads(g, s, y, at + "k", s.num_kv_heads);
    const uint64_t kv_cols = s.num_kv_heads * s.head_dim;
    const uint32_t v = g->node(GAINZ_OP_LINEAR, {y, g->random_weight(at + "v", s.weight_type, {s.width, kv_cols})}, {kv_cols});
    g->node(GAINZ_OP_KV_WRITE, {k, v}, {}, attention);
    const uint64_t q_cols = s.num_heads * s.head_dim;
    y = g->node(GAINZ_OP_ATTENTION, {q}, {q_cols}, attention);
    y = g->node(GAINZ_OP_LINEAR, {y, g->random_weight(at + "o", s.weight_type, {q_cols, s.width})}, {s.width});
    x = g->node(GAINZ_OP_ADD, {x, y}, {s.width});
    y = g->node(GAINZ_OP_RMSNORM, {x, g->random_weight(at + "norm2", GAINZ_TYPE_F32, {s.width}, 1)}, {s.width}, norm);
    x = g->node(GAINZ_OP_ADD, {x, toy_ffn(g, s, y, at)}, {s.width});
  }
  g->set_layer(GAINZ_NO_VALUE);
  x = g->node(GAINZ_OP_RMSNORM, {x, GAINZ_NO_VALUE}, {s.width}, norm);
  x = g->node(GAINZ_OP_GATHER_ROWS, {x}, {s.width}, GAINZ_ROWS_OUTPUTS);
  g->output(g->node(GAINZ_OP_LINEAR, {x, g->random_weight("head", s.weight_type, {s.width, s.vocabulary})}, {s.vocabulary},
                    GAINZ_ROWS_OUTPUTS));
}

}  // namespace gainz::conform
