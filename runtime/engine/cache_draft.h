// CacheDraft: what followed the same prefix before, as the prefix cache still holds it: after an answer that was given once,
// the same question answers itself. It reads token ids of sealed blocks under the sequence's own prefix, so nothing crosses a
// salt.
#pragma once

#include "engine/sequence.h"
#include "speculation/draft.h"

namespace gainz {

class CacheDraft : public Draft {
 public:
  CacheDraft(const PagePool& pool, const Sequence& sequence) : pool_(pool), sequence_(sequence) {}
  Guess guess(std::span<const int32_t> tokens, std::span<int32_t> out) override;

 private:
  const PagePool& pool_;
  const Sequence& sequence_;
};

}  // namespace gainz
