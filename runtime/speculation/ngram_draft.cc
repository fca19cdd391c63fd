#include "speculation/ngram_draft.h"

namespace gainz {
namespace {

constexpr uint32_t kNumCandidates = 8;

uint32_t trust_of(uint32_t run) { return run < 3 ? 0 : run < 5 ? 1 : run < 10 ? 2 : 3; }

}  // namespace

// One other token is taken for a replacement, a second one for the end of the copy.
void NgramDraft::follow(int32_t source, int32_t actual) {
  const bool departs = replacements_.of(source) != actual;
  replacements_.observe(source, actual);
  if (!departs)
    ++run_;
  else
    run_ = departed_ ? 0 : run_ / 2;
  departed_ = departs;
}

Guess NgramDraft::guess(std::span<const int32_t> tokens, std::span<int32_t> out) {
  index_.extend(tokens);
  for (; place_ != 0 && num_seen_ < tokens.size(); ++num_seen_, ++place_) follow(tokens[place_], tokens[num_seen_]);
  const TokenIndex::Match match = index_.find(tokens, tokens, tokens.size(), kNumCandidates);
  if (match.length > run_) place_ = match.next, run_ = match.length, departed_ = false;
  num_seen_ = tokens.size();
  if (place_ == 0) return {};
  for (size_t i = 0; i < out.size(); ++i) {  // beyond the end the repetition goes on
    const size_t from = place_ + i;
    out[i] = from < tokens.size() ? replacements_.of(tokens[from]) : out[from - tokens.size()];
  }
  return {uint32_t(out.size()), trust_of(run_)};
}

}  // namespace gainz
