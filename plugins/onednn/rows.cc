// Row stages: ops that make row r of their outputs from rows r of their inputs, one after another on the same row.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "program.h"
#include "reference/select.h"

namespace gainz::onednn {

namespace {
constexpr uint64_t kSerialFloats = 1 << 14;  // less than this is not worth waking a worker
}

void Program::run_rows(const Stage& stage) {
  uint64_t floats = 0;
  for (const Op& op : stage.ops)
    if (op.node != nullptr) floats += op.node->num_outputs != 0 ? op.node->output(0).cols() : 64;
  const uint64_t rows = num_rows(stage.domain), all = rows * std::max<uint64_t>(floats, 1);
  const uint64_t grain = all < kSerialFloats ? rows : std::max<uint64_t>(1, rows / (host_.num_workers() * 8ull));
  host_.loop(rows, grain, [&](uint64_t begin, uint64_t end, uint32_t worker) {
    for (uint64_t r = begin; r < end; ++r)
      for (const Op& op : stage.ops)
        if ((op.mask & active_mask_) != 0) row_op(op, r, worker);
  });
}

void Program::activation_row(uint32_t kind, const float* x, uint64_t n, float* y) const {
  if (kind != GAINZ_ACTIVATION_GELU_ERF) return kernels_.activation(kind, x, n, y);
  for (uint64_t i = 0; i < n; ++i) y[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678118654752f));
}

void Program::rope_table_row(const Op& op, uint64_t r) const {
  const RopeTable& table = plan_.ropes[op.rope];
  const size_t half = table.inverse.size();
  float* cosine = placed<float>(table.place) + r * 2 * half;
  const float magnitude = table.attr.magnitude == 0.0f ? 1.0f : table.attr.magnitude;
  for (size_t i = 0; i < half; ++i) {
    const auto angle = static_cast<double>(static_cast<float>(step_.positions[r]) * table.inverse[i]);
    cosine[i] = static_cast<float>(std::cos(angle)) * magnitude;
    cosine[half + i] = static_cast<float>(std::sin(angle)) * magnitude;
  }
}

void Program::rope_row(const Op& op, uint64_t r) const {
  const gainz_rope_attr& a = op.node->attr.rope;
  const uint32_t half = a.rotary_dim / 2;
  const float* cosine = placed<float>(plan_.ropes[op.rope].place) + r * a.rotary_dim;
  const float* x = row(op.node->inputs[0], op.domain, r);
  float* y = row(op.node->outputs[0], op.domain, r);
  for (uint32_t h = 0; h < a.num_heads; ++h, x += a.head_dim, y += a.head_dim) {
    (a.mode == GAINZ_ROPE_HALVES ? kernels_.rope_halves : kernels_.rope_pairs)(x, cosine, cosine + half, half, y);
    if (a.rotary_dim < a.head_dim) std::memcpy(y + a.rotary_dim, x + a.rotary_dim, (a.head_dim - a.rotary_dim) * sizeof(float));
  }
}

static void route(const Kernels& kernels, const gainz_moe_route_attr& a, const float* x, uint64_t num_experts, float* room,
                  int32_t* ids, float* weights) {
  kernels.softmax(x, num_experts, room);
  reference::top_k(room, num_experts, a.num_chosen, weights, ids);
  float sum = 0;
  for (uint32_t j = 0; j < a.num_chosen; ++j) sum += weights[j];
  const float scale = a.scale == 0.0f ? 1.0f : a.scale;
  for (uint32_t j = 0; j < a.num_chosen; ++j) weights[j] = (a.normalize != 0 ? weights[j] / sum : weights[j]) * scale;
}

void Program::row_op(const Op& op, uint64_t r, uint32_t worker) const {
  if (op.op == kOpRopeTable) return rope_table_row(op, r);
  if (op.op == kOpQuantize && plan_.acts[op.act].tiled && is_prompt(r))
    return kernels_.tiles->row(row(op.value, op.domain, r), plan_.buffers[op.value].stride_bytes / 4,
                               tile_places_[r] % kTileRows, act_tile(op.act, r));
  if (op.op == kOpQuantize)
    return kernels_.quantize(row(op.value, op.domain, r), plan_.buffers[op.value].stride_bytes / 4, act_row(op.act, r));
  const sdk::Node& node = *op.node;
  const auto in = [&](uint32_t i) { return row(node.inputs[i], op.domain, r); };
  const auto vector = [&](uint32_t i) { return node.has_input(i) ? model_.weight(node.inputs[i]).floats() : nullptr; };
  float* y = node.num_outputs != 0 ? row(node.outputs[0], op.domain, r) : nullptr;
  const uint64_t n = node.num_outputs != 0 ? node.output(0).cols() : 0;
  switch (op.op) {
    case GAINZ_OP_EMBED:
      return model_.weight(node.inputs[0]).matrix.row_to_float(static_cast<uint32_t>(step_.tokens[r]), y);
    case GAINZ_OP_RMSNORM: {
      const uint64_t groups = node.attr.norm.num_groups, dim = n / groups;
      const float* x = in(0);
      for (uint64_t g = 0; g < groups; ++g) kernels_.rmsnorm(x + g * dim, vector(1), dim, node.attr.norm.epsilon, y + g * dim);
      return;
    }
    case GAINZ_OP_LAYERNORM:
      return kernels_.layernorm(in(0), vector(1), vector(2), n, node.attr.norm.epsilon, y);
    case GAINZ_OP_ROPE:
      return rope_row(op, r);
    case GAINZ_OP_KV_WRITE: {
      const gainz_attention_attr& a = node.attr.attention;
      return kv_->write(kernels_, a.group, a.layer, pages(a.group).slots[r], in(0), in(1));
    }
    case GAINZ_OP_ACTIVATION:
      return activation_row(node.attr.activation.kind, in(0), n, y);
    case GAINZ_OP_GATED_ACTIVATION: {
      // y may be a buffer that the inputs share no byte with, so two passes are safe.
      activation_row(node.attr.activation.kind, in(0), n, y);
      return kernels_.mul(y, in(1), n, y);
    }
    case GAINZ_OP_ADD:
      return kernels_.add(in(0), in(1), n, y);
    case GAINZ_OP_MUL:
      return kernels_.mul(in(0), node.input(1).kind == GAINZ_VALUE_WEIGHT ? vector(1) : in(1), n, y);
    case GAINZ_OP_SCALE:
      return kernels_.scale(in(0), node.attr.scale.scale, n, y);
    case GAINZ_OP_SOFTCAP:
      return kernels_.softcap(in(0), node.attr.scale.scale, n, y);
    case GAINZ_OP_MOE_ROUTE: {
      auto* room = reinterpret_cast<float*>(worker_scratch_.data() + worker * worker_bytes_);
      return route(kernels_, node.attr.moe_route, in(0), node.input(0).cols(), room, reinterpret_cast<int32_t*>(y),
                   row(node.outputs[1], op.domain, r));
    }
    case kOpMoeSum: {
      const float* part = row(op.extra, op.domain, r);
      const float* weights = in(3);
      kernels_.scale(part, weights[0], n, y);
      for (uint32_t j = 1; j < node.attr.moe_linear.num_chosen; ++j) kernels_.axpy(part + j * n, weights[j], n, y);
      return;
    }
    case GAINZ_OP_GATHER_ROWS:
      std::memcpy(y, in(0), n * sizeof(float));
      return;
    case GAINZ_OP_LOGIT_MASK: {
      const float* x = in(0);
      const uint32_t* mask = step_.logit_masks == nullptr ? nullptr : step_.logit_masks + r * step_.logit_mask_stride;
      if (mask == nullptr) {
        std::memcpy(y, x, n * sizeof(float));
      } else {
        reference::logit_mask(x, mask, y, n);
      }
      return;
    }
    case GAINZ_OP_TOP_K:
      return reference::top_k(in(0), node.input(0).cols(), node.attr.top_k.num_chosen, y,
                              reinterpret_cast<int32_t*>(row(node.outputs[1], op.domain, r)));
    default:
      return;
  }
}

}  // namespace gainz::onednn
