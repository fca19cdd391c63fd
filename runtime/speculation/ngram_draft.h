// NgramDraft: what followed the last time when the sequence's own tokens, prompt and answer, ended as they do now ("prompt
// lookup": Saxena 2023). Bounded memory (token_index.h).
#pragma once

#include "speculation/draft.h"
#include "speculation/token_index.h"

namespace gainz {

class NgramDraft : public Draft {
 public:
  explicit NgramDraft(size_t max_tokens) : index_(max_tokens) {}
  Guess guess(std::span<const int32_t> tokens, std::span<int32_t> out) override;

 private:
  TokenIndex index_;
};

}  // namespace gainz
