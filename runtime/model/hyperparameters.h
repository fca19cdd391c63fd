// Hyperparameters: what every decoder says of itself in its "<architecture>.*" keys, checked against limits.h and against each
// other. Owner: the Blueprint of a model. Threads: one while read, then any. Source of the keys: the GGUF specification in
// ggml's docs/gguf.md.
#pragma once

#include <string>
#include <vector>

#include "gainz/sdk/sdk.h"
#include "model/keys.h"

namespace gainz {

struct Hyperparameters {
  std::string architecture, name;
  uint32_t vocab_size = 0, context_length = 0, num_layers = 0, embedding_length = 0;
  std::vector<uint32_t> num_heads, num_kv_heads, feed_forward_length;  // [num_layers]; feed_forward_length 0: not given
  uint32_t k_head_dim = 0, v_head_dim = 0;
  float norm_epsilon = 0;
  float attention_scale = 0;  // the key's, or 1 / sqrt(k_head_dim)
  bool has_attention_scale = false;
};

// Reads and checks the keys that all architectures share. Errors: invalid, naming key, value and limit.
Result<Hyperparameters> read_hyperparameters(const Gguf& file, Keys& keys);

// rope.*: base, dimension count, scaling (none, linear, yarn; llama3 stands in a tensor of factors). num_heads is left 0.
// YaRN: Peng et al. 2023, section 3.4; magnitude 0.1 ln(factor) + 1 times the attention factors. Errors: as above; an unknown
// scaling type is unsupported.
Result<gainz_rope_attr> read_rope(Keys& keys, const Hyperparameters& hyper, uint32_t mode);

}  // namespace gainz
