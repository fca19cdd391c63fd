// Qwen2 and Qwen2.5 (Yang et al. 2024, section 2.2): LLaMA with biases on q, k and v; rotary pairs lie half a head apart.
#include "model/architecture.h"

namespace gainz {

Status build_qwen2(Builder& b) {
  const Hyperparameters& h = b.hyper;
  GAINZ_ASSIGN(const gainz_rope_attr rope, read_rope(b.keys, h, GAINZ_ROPE_HALVES));
  GAINZ_TRY(b.keys.only("attention.sliding_window", 0));
  GAINZ_TRY(b.plan_pages(std::vector<uint32_t>(h.num_layers, 0)));
  constexpr auto kRequired = Builder::Bias::required;

  ValueId x = b.embed();
  for (uint32_t i = 0; i < h.num_layers; ++i) {
    b.begin_layer(i);
    const ValueId a = b.norm(x, "attn_norm");
    const ValueId q = b.rope(b.linear(a, "attn_q", uint64_t{b.num_heads()} * h.k_head_dim, kRequired), rope, b.num_heads());
    const ValueId k =
        b.rope(b.linear(a, "attn_k", uint64_t{b.num_kv_heads()} * h.k_head_dim, kRequired), rope, b.num_kv_heads());
    const ValueId v = b.linear(a, "attn_v", uint64_t{b.num_kv_heads()} * h.v_head_dim, kRequired);
    x = b.graph.add(x, b.linear(b.attend(q, k, v, h.attention_scale), "attn_output", h.embedding_length));
    x = b.graph.add(x, b.gated_feed_forward(b.norm(x, "ffn_norm"), GAINZ_ACTIVATION_SILU));
  }
  b.head(x);
  return {};
}

}  // namespace gainz
