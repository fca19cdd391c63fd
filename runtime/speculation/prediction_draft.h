// PredictionDraft: the text that the caller expects, followed token by token. Where the answer departs from it, the draft first
// takes one token for replaced (and will expect the same replacement again), then for inserted, then looks for the nearest
// place in the prediction that ends as the answer does.
#pragma once

#include <vector>

#include "speculation/draft.h"
#include "speculation/replacements.h"
#include "speculation/token_index.h"

namespace gainz {

class PredictionDraft : public Draft {
 public:
  // num_prompt: tokens of the sequence before the answer.
  PredictionDraft(std::vector<int32_t> prediction, size_t num_prompt);
  Guess guess(std::span<const int32_t> tokens, std::span<int32_t> out) override;

 private:
  void follow(std::span<const int32_t> answer);

  std::vector<int32_t> prediction_;
  TokenIndex index_;
  Replacements replacements_;
  size_t num_seen_;  // tokens of the sequence that have been followed
  size_t num_prompt_;
  size_t next_ = 0;              // in the prediction; its size: lost
  size_t departed_ = 0;          // where the answer left it last
  uint32_t run_ = 0;             // tokens followed since
  bool is_replacement_ = false;  // next_ rests on the guess that one token was replaced
};

}  // namespace gainz
