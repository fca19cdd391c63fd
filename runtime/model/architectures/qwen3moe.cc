// Qwen3, mixture of experts (Yang et al. 2025, "Qwen3 Technical Report", section 2): Qwen3 with, in place of the feed-forward,
// a router that picks expert_used_count of expert_count experts a token: softmax over all, the largest kept and divided by
// their sum; no shared expert.
#include "model/architecture.h"
#include "model/limits.h"

namespace gainz {
namespace {

constexpr uint32_t kGatingSoftmax = 1;  // expert_gating_func

struct Experts {
  uint32_t count = 0, used = 0, feed_forward_length = 0;
  bool normalize = true;
  float scale = 1;
};

Result<Experts> read_experts(Keys& keys) {
  Experts e;
  GAINZ_ASSIGN(e.count, keys.u32("expert_count", 1, kMaxModelExperts));
  GAINZ_ASSIGN(e.used, keys.u32("expert_used_count", 1, e.count));
  GAINZ_ASSIGN(e.feed_forward_length, keys.u32("expert_feed_forward_length", 1, kMaxModelFeedForward));
  GAINZ_ASSIGN(e.normalize, keys.boolean_or("expert_weights_norm", true));
  GAINZ_ASSIGN(e.scale, keys.f32_or("expert_weights_scale", 1.0f, 0, 1e6));
  if (e.scale == 0) e.scale = 1;  // how some files write "none"
  GAINZ_TRY(keys.only("expert_gating_func", kGatingSoftmax));
  GAINZ_TRY(keys.only("expert_shared_count", 0));
  GAINZ_TRY(keys.only("leading_dense_block_count", 0));
  return e;
}

}  // namespace

Status build_qwen3moe(Builder& b) {
  const Hyperparameters& h = b.hyper;
  GAINZ_ASSIGN(const gainz_rope_attr rope, read_rope(b.keys, h, GAINZ_ROPE_HALVES));
  GAINZ_ASSIGN(const Experts experts, read_experts(b.keys));
  GAINZ_TRY(b.keys.only("attention.sliding_window", 0));
  GAINZ_TRY(b.plan_pages(std::vector<uint32_t>(h.num_layers, 0)));
  const uint64_t width = h.embedding_length, inner = experts.feed_forward_length;

  ValueId x = b.embed();
  for (uint32_t i = 0; i < h.num_layers; ++i) {
    b.begin_layer(i);
    const ValueId a = b.norm(x, "attn_norm");
    ValueId q = b.head_norm(b.linear(a, "attn_q", uint64_t{b.num_heads()} * h.k_head_dim), "attn_q_norm", b.num_heads());
    ValueId k = b.head_norm(b.linear(a, "attn_k", uint64_t{b.num_kv_heads()} * h.k_head_dim), "attn_k_norm", b.num_kv_heads());
    const ValueId v = b.linear(a, "attn_v", uint64_t{b.num_kv_heads()} * h.v_head_dim);
    q = b.rope(q, rope, b.num_heads());
    k = b.rope(k, rope, b.num_kv_heads());
    x = b.graph.add(x, b.linear(b.attend(q, k, v, h.attention_scale), "attn_output", width));

    const ValueId f = b.norm(x, "ffn_norm");
    const auto [ids, weights] =
        b.graph.moe_route(b.linear(f, "ffn_gate_inp", experts.count), experts.used, experts.normalize, experts.scale);
    const ValueId gate = b.graph.moe_linear(f, ids, b.matrix("ffn_gate_exps", {width, inner, experts.count}), 1);
    const ValueId up = b.graph.moe_linear(f, ids, b.matrix("ffn_up_exps", {width, inner, experts.count}), 1);
    const ValueId gated = b.graph.gated_activation(gate, up, GAINZ_ACTIVATION_SILU);
    x = b.graph.add(
        x, b.graph.moe_linear(gated, ids, b.matrix("ffn_down_exps", {inner, width, experts.count}), experts.used, weights));
  }
  b.head(x);
  return {};
}

}  // namespace gainz
