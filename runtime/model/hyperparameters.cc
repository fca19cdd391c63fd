#include "model/hyperparameters.h"

#include <cmath>

#include "model/limits.h"

namespace gainz {
namespace {

// The vocabulary is as large as the embedding has rows; what else the file says of it must agree.
Result<uint32_t> read_vocab_size(const Gguf& file, Keys& keys) {
  const GgufTensor* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr) return Status(Code::invalid, "tensor token_embd.weight is missing");
  const uint64_t rows = embedding->dims.size() < 2 ? 1 : embedding->dims[1];
  if (rows > kMaxModelVocab)
    return Status(Code::limit_exceeded, "tensor token_embd.weight has " + std::to_string(rows) + " rows; at most " +
                                            std::to_string(kMaxModelVocab) + " tokens are allowed");
  GAINZ_ASSIGN(const uint32_t given, keys.u32_or("vocab_size", uint32_t(rows), 1, kMaxModelVocab));
  if (given != rows)
    return Status(Code::invalid, "key " + keys.architecture() + ".vocab_size is " + std::to_string(given) +
                                     ", but tensor token_embd.weight has " + std::to_string(rows) + " rows");
  const auto tokens = file.strings("tokenizer.ggml.tokens");
  if (tokens.ok() && tokens->size() > rows)
    return Status(Code::invalid, "key tokenizer.ggml.tokens has " + std::to_string(tokens->size()) +
                                     " tokens, but tensor token_embd.weight has " + std::to_string(rows) + " rows");
  return uint32_t(rows);
}

Status read_heads(Keys& keys, Hyperparameters& h) {
  GAINZ_ASSIGN(h.num_heads, keys.per_layer("attention.head_count", h.num_layers, 1, kMaxModelHeads));
  GAINZ_ASSIGN(h.num_kv_heads, keys.per_layer_or("attention.head_count_kv", h.num_heads, 1, kMaxModelHeads));
  for (uint32_t i = 0; i < h.num_layers; ++i)
    if (h.num_heads[i] % h.num_kv_heads[i] != 0)
      return {Code::invalid, "key " + keys.architecture() + ".attention.head_count is " + std::to_string(h.num_heads[i]) +
                                 ", which is no multiple of attention.head_count_kv " + std::to_string(h.num_kv_heads[i]) +
                                 " (layer " + std::to_string(i) + ")"};
  if (!keys.has("attention.key_length") && h.embedding_length % h.num_heads[0] != 0)
    return {Code::invalid, "key " + keys.architecture() + ".attention.head_count is " + std::to_string(h.num_heads[0]) +
                               ", which does not divide embedding_length " + std::to_string(h.embedding_length) +
                               ", and there is no attention.key_length"};
  GAINZ_ASSIGN(h.k_head_dim, keys.u32_or("attention.key_length", h.embedding_length / h.num_heads[0], 1, kMaxModelHeadDim));
  GAINZ_ASSIGN(h.v_head_dim, keys.u32_or("attention.value_length", h.embedding_length / h.num_heads[0], 1, kMaxModelHeadDim));
  if (h.k_head_dim > kMaxModelHeadDim || h.v_head_dim < 1 || h.v_head_dim > kMaxModelHeadDim)
    return {Code::invalid, "heads of " + std::to_string(h.k_head_dim) +
                               " columns (embedding_length over attention.head_count); at most " +
                               std::to_string(kMaxModelHeadDim) + " are allowed"};
  h.has_attention_scale = keys.has("attention.scale");
  GAINZ_ASSIGN(h.attention_scale, keys.f32_or("attention.scale", 1.0f / std::sqrt(float(h.k_head_dim)), 1e-9, 1e9));
  return {};
}

Status read_yarn(Keys& keys, const Hyperparameters& hyper, float factor, gainz_rope_attr& rope) {
  GAINZ_ASSIGN(rope.original_context,
               keys.u32_or("rope.scaling.original_context_length", hyper.context_length, 1, kMaxModelContext));
  GAINZ_ASSIGN(const float attention, keys.f32_or("rope.scaling.attn_factor", 1.0f, 0, kMaxRopeFactor));
  GAINZ_ASSIGN(const float yarn_attention, keys.f32_or("rope.scaling.yarn_attn_factor", 1.0f, 0, kMaxRopeFactor));
  GAINZ_ASSIGN(rope.yarn_mix, keys.f32_or("rope.scaling.yarn_ext_factor", 1.0f, 0, 1));
  GAINZ_ASSIGN(rope.yarn_beta_fast, keys.f32_or("rope.scaling.yarn_beta_fast", 32.0f, 1e-3, kMaxRopeFactor));
  GAINZ_ASSIGN(rope.yarn_beta_slow, keys.f32_or("rope.scaling.yarn_beta_slow", 1.0f, 1e-3, kMaxRopeFactor));
  GAINZ_TRY(keys.only("rope.scaling.yarn_log_multiplier", 0));
  const float magnitude = factor > 1.0f && rope.yarn_mix != 0.0f ? 0.1f * std::log(factor) + 1.0f : 1.0f;
  rope.magnitude = magnitude * (attention == 0.0f ? 1.0f : attention) * (yarn_attention == 0.0f ? 1.0f : yarn_attention);
  return {};
}

}  // namespace

Result<Hyperparameters> read_hyperparameters(const Gguf& file, Keys& keys) {
  Hyperparameters h;
  h.architecture = keys.architecture();
  if (const auto name = file.string("general.name"); name.ok()) h.name = std::string(*name);
  GAINZ_ASSIGN(h.num_layers, keys.u32("block_count", 1, kMaxModelLayers));
  GAINZ_ASSIGN(h.context_length, keys.u32("context_length", 1, kMaxModelContext));
  GAINZ_ASSIGN(h.embedding_length, keys.u32("embedding_length", 1, kMaxModelEmbedding));
  GAINZ_ASSIGN(h.vocab_size, read_vocab_size(file, keys));
  GAINZ_ASSIGN(h.feed_forward_length,
               keys.per_layer_or("feed_forward_length", std::vector<uint32_t>(h.num_layers, 0), 0, kMaxModelFeedForward));
  GAINZ_ASSIGN(h.norm_epsilon, keys.f32("attention.layer_norm_rms_epsilon", 0, kMaxNormEpsilon));
  GAINZ_TRY(read_heads(keys, h));
  // What would change the computation in a way that no builder here knows.
  GAINZ_TRY(keys.only("attention.causal", 1));
  GAINZ_TRY(keys.only("attention.max_alibi_bias", 0));
  GAINZ_TRY(keys.only("attention.clamp_kqv", 0));
  GAINZ_TRY(keys.only("use_parallel_residual", 0));
  GAINZ_TRY(keys.only("logit_scale", 1));
  GAINZ_TRY(keys.only("residual_scale", 1));
  GAINZ_TRY(keys.only("embedding_scale", 1));
  GAINZ_TRY(keys.only("nextn_predict_layers", 0));
  keys.ignore("tensor_data_layout");
  keys.ignore("pooling_type");  // how a server pools embeddings
  return h;
}

Result<gainz_rope_attr> read_rope(Keys& keys, const Hyperparameters& hyper, uint32_t mode) {
  gainz_rope_attr rope{};
  rope.struct_size = sizeof(rope);
  rope.mode = mode;
  rope.head_dim = hyper.k_head_dim;
  rope.freq_scale = rope.magnitude = 1.0f;
  GAINZ_ASSIGN(rope.rotary_dim, keys.u32_or("rope.dimension_count", hyper.k_head_dim, 2, kMaxModelHeadDim));
  if (rope.rotary_dim % 2 != 0 || rope.rotary_dim > hyper.k_head_dim)
    return Status(Code::invalid, "key " + keys.architecture() + ".rope.dimension_count is " + std::to_string(rope.rotary_dim) +
                                     "; it must be even and at most the head's " + std::to_string(hyper.k_head_dim));
  GAINZ_ASSIGN(rope.base, keys.f32_or("rope.freq_base", 10000.0f, 1.0 + 1e-6, kMaxRopeBase));
  keys.ignore("rope.scaling.finetuned");

  const bool has_type = keys.has("rope.scaling.type");
  GAINZ_ASSIGN(const std::string type, keys.text_or("rope.scaling.type", "linear"));
  if (type != "none" && type != "linear" && type != "yarn" && type != "llama3")
    return Status(Code::unsupported,
                  "key " + keys.architecture() + ".rope.scaling.type is " + type + "; known are none, linear, yarn, llama3");
  // Old files: rope.scale_linear. 0 is how some files write "none".
  GAINZ_ASSIGN(const float old_factor, keys.f32_or("rope.scale_linear", 1.0f, 0, kMaxRopeFactor));
  GAINZ_ASSIGN(float factor, keys.f32_or("rope.scaling.factor", has_type ? 1.0f : old_factor, 0, kMaxRopeFactor));
  if (factor == 0.0f) factor = 1.0f;
  if (type == "yarn") {
    GAINZ_TRY(read_yarn(keys, hyper, factor, rope));
    rope.freq_scale = 1.0f / factor;
    return rope;
  }
  GAINZ_TRY(keys.only("rope.scaling.attn_factor", 1));
  keys.ignore("rope.scaling.original_context_length");
  if (type == "linear") rope.freq_scale = 1.0f / factor;
  return rope;
}

}  // namespace gainz
