#include "emit.h"

#include <algorithm>
#include <bit>

namespace gainz::vulkan {

namespace {
constexpr uint64_t kColumnsPerLane = 16;  // of elementwise work
constexpr uint32_t kMaxHeadsPerGroup = 4;
uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
}  // namespace

BufferRef Emitter::ref(uint32_t v, const Rows& rows, bool written) const {
  const Storage& s = storage(v);
  const uint64_t begin = rows.first * s.stride * 4;
  const uint64_t size = std::max<uint64_t>(4, uint64_t{rows.count} * s.stride * 4);
  return {s.where, written, nullptr, s.offset + begin, size};
}

Dispatch& Emitter::add(const Work& work, Shader shader, std::vector<uint32_t> constants, const Rows& rows) {
  Dispatch& d = plan_.dispatches.emplace_back();
  d.shader = shader;
  d.constants = std::move(constants);
  d.domain = rows.domain;
  d.first_row = rows.first;
  d.part_rows = rows.count;
  d.mask = work.mask;
  d.work = next_work_;
  // The step's arrays; what the graph takes in lies behind them and is bound apart.
  d.buffers[0] = {BufferRef::kStep, false, nullptr, 0, std::min(context_.max_range_bytes(), plan_.step.num_words * 4)};
  return d;
}

void Emitter::push(Dispatch* dispatch, std::initializer_list<uint32_t> words) {
  for (const uint32_t word : words) dispatch->push[dispatch->num_push++] = word;
}

uint32_t Emitter::groups_for(uint64_t columns) const {
  return static_cast<uint32_t>(std::clamp<uint64_t>(parts_of(columns, tuning_.group_size * kColumnsPerLane), 1, kMaxGroups));
}

Status Emitter::emit(const Work& work) {
  switch (work.node->op) {
    case GAINZ_OP_EMBED:
      return embed(work);
    case GAINZ_OP_RMSNORM:
    case GAINZ_OP_LAYERNORM:
      return norm(work);
    case GAINZ_OP_LINEAR:
      return linear(work);
    case GAINZ_OP_MOE_LINEAR:
      return moe_linear(work);
    case GAINZ_OP_ROPE:
      return rope(work);
    case GAINZ_OP_KV_WRITE:
      return kv_write(work);
    case GAINZ_OP_ATTENTION:
      return attention(work);
    case GAINZ_OP_MOE_ROUTE:
    case GAINZ_OP_TOP_K:
      return choose(work);
    default:
      return elementwise(work);
  }
}

Status Emitter::embed(const Work& work) {
  const Matrix& m = model_.matrix(work);
  const uint32_t y = work.output();
  return for_rows(GAINZ_ROWS_TOKENS, {y}, [&](const Rows& rows) {
    for (const Matrix::Part& part : m.parts) {
      Dispatch& d =
          add(work, with_format(Shader::kEmbed, m.packing), {static_cast<uint32_t>(m.packing.scales), m.packing.offset}, rows);
      d.buffers[2] = fixed(part.quants);
      d.buffers[3] = fixed(part.scales);
      d.buffers[4] = ref(y, rows, true);
      push(&d, {rows.first, static_cast<uint32_t>(m.num_blocks), static_cast<uint32_t>(m.columns),
                static_cast<uint32_t>(m.row_words), static_cast<uint32_t>(m.row_scale_words), plan_.step.tokens,
                static_cast<uint32_t>(part.first), static_cast<uint32_t>(part.count), column(y), stride(y)});
    }
  });
}

Status Emitter::norm(const Work& work) {
  const sdk::Node& node = *work.node;
  const bool layer = node.op == GAINZ_OP_LAYERNORM;
  const uint32_t x = node.inputs[0], y = work.output(), r = work.residual == kNone ? x : work.residual;
  const uint32_t domain = node.output(0).rows;
  return for_rows(domain, {x, y, r}, [&](const Rows& rows) {
    Dispatch& d = add(work, Shader::kNorm, {layer ? 1u : 0u}, rows);
    const auto dim = static_cast<uint32_t>(node.input(0).cols() / node.attr.norm.num_groups);
    d.groups_x = node.attr.norm.num_groups;
    d.buffers[1] = ref(x, rows);
    d.buffers[2] = node.has_input(1) ? fixed(model_.vector(node.inputs[1])) : d.buffers[1];
    d.buffers[3] = node.has_input(2) ? fixed(model_.vector(node.inputs[2])) : d.buffers[1];
    d.buffers[4] = ref(y, rows, true);
    d.buffers[5] = ref(r, rows);
    push(&d, {header_word(domain), rows.first, dim, bits(node.attr.norm.epsilon), column(x), stride(x), column(y), stride(y),
              node.has_input(1) ? 1u : 0u, 0, node.has_input(2) ? 1u : 0u, 0, work.residual != kNone ? 1u : 0u, column(r),
              stride(r)});
  });
}

Status Emitter::rope(const Work& work) {
  const sdk::Node& node = *work.node;
  const gainz_rope_attr& attr = node.attr.rope;
  const uint32_t x = node.inputs[0], y = work.output();
  return for_rows(GAINZ_ROWS_TOKENS, {x, y}, [&](const Rows& rows) {
    Dispatch& d = add(work, Shader::kRope, {attr.mode == GAINZ_ROPE_INTERLEAVED ? 1u : 0u}, rows);
    d.groups_x = groups_for(uint64_t{attr.num_heads} * attr.head_dim);
    d.buffers[1] = ref(x, rows);
    d.buffers[4] = ref(y, rows, true);
    push(&d, {rows.first, attr.num_heads, attr.head_dim, attr.rotary_dim, column(x), stride(x), column(y), stride(y),
              find_rope(plan_, node)->offset});
  });
}

Status Emitter::kv_write(const Work& work) {
  const gainz_attention_attr& attr = work.node->attr.attention;
  const Kv::Group& group = kv_->groups()[attr.group];
  const uint32_t inputs[] = {work.node->inputs[0], work.node->inputs[1]};
  return for_rows(GAINZ_ROWS_TOKENS, {inputs[0], inputs[1]}, [&](const Rows& rows) {
    for (uint32_t i = 0; i < 2; ++i) {
      const Kv::Side& side = i == 0 ? group.k : group.v;
      Dispatch& d = add(work, Shader::kKvWrite, {side.type}, rows);
      d.groups_x = groups_for(uint64_t{attr.num_kv_heads} * side.dim);
      d.buffers[1] = ref(inputs[i], rows);
      d.buffers[4] = fixed(side.layers[attr.layer], true);
      push(&d, {rows.first, attr.num_kv_heads, side.dim, column(inputs[i]), stride(inputs[i]),
                plan_.step.groups[attr.group].slots});
    }
  });
}

Status Emitter::attention(const Work& work) {
  const gainz_attention_attr& attr = work.node->attr.attention;
  const Kv::Group& group = kv_->groups()[attr.group];
  const uint32_t x = work.node->inputs[0], y = work.output();
  const uint32_t heads_per_kv = attr.num_heads / attr.num_kv_heads;
  uint32_t heads = std::min(heads_per_kv, kMaxHeadsPerGroup);
  while (heads_per_kv % heads != 0) --heads;
  return for_rows(GAINZ_ROWS_TOKENS, {x, y}, [&](const Rows& rows) {
    Dispatch& d = add(work, Shader::kAttention, {group.k.type, group.v.type, attr.k_head_dim, attr.v_head_dim, heads}, rows);
    d.groups_x = attr.num_heads / heads;
    d.buffers[1] = ref(x, rows);
    d.buffers[2] = fixed(group.k.layers[attr.layer]);
    d.buffers[3] = fixed(group.v.layers[attr.layer]);
    d.buffers[4] = ref(y, rows, true);
    push(&d, {rows.first, attr.num_kv_heads, heads_per_kv, attr.window, bits(attr.scale), bits(attr.softcap), column(x),
              stride(x), column(y), stride(y), plan_.step.positions, plan_.step.sequences, plan_.step.groups[attr.group].table,
              bucket_.max_pages_per_sequence});
  });
}

Status Emitter::elementwise(const Work& work) {
  const sdk::Node& node = *work.node;
  const uint32_t x = node.inputs[0], y = work.output();
  const bool vector = node.num_inputs > 1 && node.input(1).kind == GAINZ_VALUE_WEIGHT;
  const uint32_t z = node.num_inputs > 1 && !vector ? node.inputs[1] : x;
  const bool gathers = node.op == GAINZ_OP_GATHER_ROWS;
  const uint32_t domain = node.output(0).rows;
  uint32_t op = kAdd, kind = 0, step_offset = plan_.step.masks, step_stride = plan_.step.mask_words;
  float factor = 0;
  switch (node.op) {
    case GAINZ_OP_ADD:
      break;
    case GAINZ_OP_MUL:
      op = vector ? kMulRow : kMul;
      break;
    case GAINZ_OP_SCALE:
    case GAINZ_OP_SOFTCAP:
      op = node.op == GAINZ_OP_SCALE ? kScale : kSoftcap;
      factor = node.attr.scale.scale;
      break;
    case GAINZ_OP_ACTIVATION:
    case GAINZ_OP_GATED_ACTIVATION:
      op = node.op == GAINZ_OP_ACTIVATION ? kActivation : kGatedActivation;
      kind = node.attr.activation.kind;
      break;
    case GAINZ_OP_GATHER_ROWS:
      op = kGather;
      step_offset = plan_.step.output_rows;
      break;
    default:
      op = kMask;
      break;
  }
  // Gathered rows may lie anywhere, so x is shown whole.
  if (gathers && storage(x).size > context_.max_range_bytes())
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "%u rows to choose from are %llu bytes; the device shows %llu bytes at once",
                   bucket_.max_tokens, wide(storage(x).size), wide(context_.max_range_bytes()));
  return for_rows(domain, {gathers ? y : x, y, gathers ? y : z}, [&](const Rows& rows) {
    Dispatch& d = add(work, Shader::kElementwise, {op, kind}, rows);
    d.groups_x = groups_for(node.output(0).cols());
    const Rows all{GAINZ_ROWS_TOKENS, 0, bucket_.max_tokens};
    d.buffers[1] = ref(x, gathers ? all : rows);
    d.buffers[4] = ref(y, rows, true);
    d.buffers[5] = vector ? fixed(model_.vector(node.inputs[1])) : gathers ? d.buffers[1] : ref(z, rows);
    push(&d, {header_word(domain), rows.first, static_cast<uint32_t>(node.output(0).cols()), column(x), stride(x), column(y),
              stride(y), vector ? 0 : column(z), vector ? 0 : stride(z), bits(factor), step_offset, step_stride, 1});
  });
}

Status Emitter::choose(const Work& work) {
  const sdk::Node& node = *work.node;
  const bool route = node.op == GAINZ_OP_MOE_ROUTE;
  const uint32_t x = node.inputs[0], values = node.outputs[route ? 1 : 0], ids = node.outputs[route ? 0 : 1];
  const uint32_t domain = node.output(0).rows;
  return for_rows(domain, {x, values, ids}, [&](const Rows& rows) {
    Dispatch& d = add(work, Shader::kChoose, {route ? 1u : 0u}, rows);
    d.buffers[1] = ref(x, rows);
    d.buffers[4] = ref(values, rows, true);
    d.buffers[5] = ref(ids, rows, true);
    const float scale = !route ? 1.0f : node.attr.moe_route.scale == 0.0f ? 1.0f : node.attr.moe_route.scale;
    push(&d, {header_word(domain), rows.first, static_cast<uint32_t>(node.input(0).cols()),
              route ? node.attr.moe_route.num_chosen : node.attr.top_k.num_chosen, column(x), stride(x), column(ids),
              stride(ids), column(values), stride(values), route ? node.attr.moe_route.normalize : 0, bits(scale)});
  });
}

}  // namespace gainz::vulkan
