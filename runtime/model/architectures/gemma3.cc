// Gemma 3, text (Gemma Team 2025, "Gemma 3 Technical Report", section 2): the embedding scaled by sqrt(embedding_length), norms
// before and after attention and feed-forward (the file's norm weights already hold the 1 that the paper adds), each head of q
// and k normalised, five layers with a window for each global one, a rope base of its own for the windowed ones; rope scaling
// only on the global ones.
#include <cmath>

#include "model/architecture.h"
#include "model/limits.h"

namespace gainz {
namespace {

constexpr uint32_t kDefaultPattern = 6;        // every sixth layer is global
constexpr float kDefaultLocalBase = 10000.0f;  // rope base of layers with a window
constexpr uint32_t kLayersOf27B = 62;  // its query scale is that of embedding_length / head_count, and the file does not say so

// windows[num_layers]: 0 where the layer is global.
Result<std::vector<uint32_t>> read_windows(Builder& b) {
  const uint32_t num_layers = b.hyper.num_layers;
  GAINZ_ASSIGN(const uint32_t window, b.keys.u32_or("attention.sliding_window", 0, 0, kMaxModelContext));
  std::vector<uint32_t> windows(num_layers, window);
  if (window == 0) {
    b.keys.ignore("attention.sliding_window_pattern");
    return windows;
  }
  GAINZ_ASSIGN(const auto pattern, b.keys.per_layer_or("attention.sliding_window_pattern",
                                                       std::vector<uint32_t>(num_layers, kDefaultPattern), 0, kMaxModelLayers));
  const bool by_layer = b.keys.is_array("attention.sliding_window_pattern");  // 1 (true): a window
  for (uint32_t i = 0; i < num_layers; ++i) {
    const bool is_global = by_layer ? pattern[i] == 0 : pattern[i] != 0 && i % pattern[i] == pattern[i] - 1;
    if (is_global) windows[i] = 0;
  }
  return windows;
}

float query_scale(const Hyperparameters& h) {
  if (!h.has_attention_scale && h.num_layers == kLayersOf27B)
    return 1.0f / std::sqrt(float(h.embedding_length / h.num_heads[0]));
  return h.attention_scale;
}

}  // namespace

Status build_gemma3(Builder& b) {
  const Hyperparameters& h = b.hyper;
  GAINZ_ASSIGN(const gainz_rope_attr global_rope, read_rope(b.keys, h, GAINZ_ROPE_HALVES));
  gainz_rope_attr local_rope = global_rope;
  local_rope.freq_scale = local_rope.magnitude = 1.0f;
  local_rope.yarn_mix = 0.0f;
  GAINZ_ASSIGN(local_rope.base, b.keys.f32_or("rope.freq_base_swa", kDefaultLocalBase, 1.0 + 1e-6, kMaxRopeBase));
  GAINZ_ASSIGN(const float attention_cap, b.keys.f32_or("attn_logit_softcapping", 0, 0, 1e9));
  GAINZ_ASSIGN(const float final_cap, b.keys.f32_or("final_logit_softcapping", 0, 0, 1e9));
  GAINZ_ASSIGN(const std::vector<uint32_t> windows, read_windows(b));
  GAINZ_TRY(b.plan_pages(windows));
  const float scale = query_scale(h);

  ValueId x = b.graph.scale(b.embed(), std::sqrt(float(h.embedding_length)));
  for (uint32_t i = 0; i < h.num_layers; ++i) {
    b.begin_layer(i);
    const gainz_rope_attr& rope = windows[i] == 0 ? global_rope : local_rope;
    const ValueId a = b.norm(x, "attn_norm");
    ValueId q = b.head_norm(b.linear(a, "attn_q", uint64_t{b.num_heads()} * h.k_head_dim), "attn_q_norm", b.num_heads());
    ValueId k = b.head_norm(b.linear(a, "attn_k", uint64_t{b.num_kv_heads()} * h.k_head_dim), "attn_k_norm", b.num_kv_heads());
    const ValueId v = b.linear(a, "attn_v", uint64_t{b.num_kv_heads()} * h.v_head_dim);
    q = b.rope(q, rope, b.num_heads());
    k = b.rope(k, rope, b.num_kv_heads());
    const ValueId attended = b.linear(b.attend(q, k, v, scale, attention_cap), "attn_output", h.embedding_length);
    x = b.graph.add(x, b.norm(attended, "post_attention_norm"));
    const ValueId fed = b.gated_feed_forward(b.norm(x, "ffn_norm"), GAINZ_ACTIVATION_GELU_TANH);
    x = b.graph.add(x, b.norm(fed, "post_ffw_norm"));
  }
  b.head(x, final_cap);
  return {};
}

}  // namespace gainz
