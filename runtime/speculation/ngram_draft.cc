#include "speculation/ngram_draft.h"

namespace gainz {
namespace {

constexpr uint32_t kNumCandidates = 8;

uint32_t trust_of(uint32_t length) { return length < 3 ? 0 : length < 5 ? 1 : length < 10 ? 2 : 3; }

}  // namespace

Guess NgramDraft::guess(std::span<const int32_t> tokens, std::span<int32_t> out) {
  index_.extend(tokens);
  const TokenIndex::Match match = index_.find(tokens, tokens, tokens.size(), kNumCandidates);
  if (match.length == 0) return {};
  for (size_t i = 0; i < out.size(); ++i) {  // beyond the end the repetition goes on
    const size_t from = match.next + i;
    out[i] = from < tokens.size() ? tokens[from] : out[from - tokens.size()];
  }
  return {uint32_t(out.size()), trust_of(match.length)};
}

}  // namespace gainz
