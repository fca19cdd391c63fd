#include "tokenizer/limits.h"

namespace gainz::tokenizer_limits {

std::span<const Limit> list() {
  static constexpr Limit kLimits[] = {
      {"tokenizer_max_tokens", kMaxTokens},          {"tokenizer_max_merges", kMaxMerges},
      {"tokenizer_max_token_bytes", kMaxTokenBytes}, {"tokenizer_max_charsmap_bytes", kMaxCharsmapBytes},
      {"tokenizer_max_text_bytes", kMaxTextBytes},   {"tokenizer_max_decode_tokens", kMaxDecodeTokens},
      {"tokenizer_max_word_chars", kMaxWordChars},
  };
  return kLimits;
}

}  // namespace gainz::tokenizer_limits
