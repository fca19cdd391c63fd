// NgramDraft: what followed the last time when the sequence's own tokens, prompt and answer, ended as they do now ("prompt
// lookup": Saxena 2023), with the words that the answer has replaced so far. A place that is being copied is left for another
// one only if more tokens speak for that. Bounded memory (token_index.h).
#pragma once

#include "speculation/draft.h"
#include "speculation/replacements.h"
#include "speculation/token_index.h"

namespace gainz {

class NgramDraft : public Draft {
 public:
  explicit NgramDraft(size_t max_tokens) : index_(max_tokens) {}
  Guess guess(std::span<const int32_t> tokens, std::span<int32_t> out) override;

 private:
  void follow(int32_t source, int32_t actual);

  TokenIndex index_;
  Replacements replacements_;
  size_t place_ = 0;       // what is copied next; 0: nothing
  size_t num_seen_ = 0;    // tokens when place_ was valid
  uint32_t run_ = 0;       // tokens that speak for the place
  bool departed_ = false;  // the last token was another one than at the place
};

}  // namespace gainz
