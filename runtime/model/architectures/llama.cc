// LLaMA (Touvron et al. 2023, section 2.2) and what shares its shape: Llama 2 and 3, SmolLM2, Mistral (Jiang et al. 2023, with
// the window of its section 2 where the file has one). Rotary pairs lie side by side: the converter permutes the rows of q and
// k so. Llama 3's rope scaling stands in the file as a tensor of factors.
#include "model/architecture.h"
#include "model/limits.h"

namespace gainz {

Status build_llama(Builder& b) {
  const Hyperparameters& h = b.hyper;
  GAINZ_ASSIGN(const gainz_rope_attr rope, read_rope(b.keys, h, GAINZ_ROPE_INTERLEAVED));
  GAINZ_ASSIGN(const uint32_t window, b.keys.u32_or("attention.sliding_window", 0, 0, kMaxModelContext));
  GAINZ_TRY(b.keys.only("expert_count", 0));
  GAINZ_TRY(b.keys.only("expert_used_count", 0));
  GAINZ_TRY(b.plan_pages(std::vector<uint32_t>(h.num_layers, window)));
  const ValueId factors = b.tensors.optional_vector("rope_freqs.weight", rope.rotary_dim / 2);
  GAINZ_ASSIGN(const std::string scaling, b.keys.text_or("rope.scaling.type", "none"));
  if (scaling == "llama3" && factors == kNoValue)
    return {Code::unsupported, "key llama.rope.scaling.type is llama3, but the tensor rope_freqs.weight is missing"};
  constexpr auto kOptional = Builder::Bias::optional;

  ValueId x = b.embed();
  for (uint32_t i = 0; i < h.num_layers; ++i) {
    b.begin_layer(i);
    const ValueId a = b.norm(x, "attn_norm");
    const ValueId q =
        b.rope(b.linear(a, "attn_q", uint64_t{b.num_heads()} * h.k_head_dim, kOptional), rope, b.num_heads(), factors);
    const ValueId k =
        b.rope(b.linear(a, "attn_k", uint64_t{b.num_kv_heads()} * h.k_head_dim, kOptional), rope, b.num_kv_heads(), factors);
    const ValueId v = b.linear(a, "attn_v", uint64_t{b.num_kv_heads()} * h.v_head_dim, kOptional);
    x = b.graph.add(x, b.linear(b.attend(q, k, v, h.attention_scale), "attn_output", h.embedding_length, kOptional));
    x = b.graph.add(x, b.gated_feed_forward(b.norm(x, "ffn_norm"), GAINZ_ACTIVATION_SILU, kOptional));
  }
  b.head(x);
  return {};
}

}  // namespace gainz
