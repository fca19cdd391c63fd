#include "speculation/prediction_draft.h"

#include <algorithm>
#include <utility>

namespace gainz {
namespace {

constexpr uint32_t kNumCandidates = 64;

uint32_t trust_of(uint32_t run) { return run < 2 ? 0 : run < 5 ? 1 : run < 16 ? 2 : 3; }

}  // namespace

PredictionDraft::PredictionDraft(std::vector<int32_t> prediction, size_t num_prompt)
    : prediction_(std::move(prediction)), index_(prediction_.size()), num_seen_(num_prompt), num_prompt_(num_prompt) {
  index_.extend(prediction_);
}

// Takes in the last token of `answer`.
void PredictionDraft::follow(std::span<const int32_t> answer) {
  const int32_t id = answer.back();
  const bool was_replacement = std::exchange(is_replacement_, false);
  if (next_ < prediction_.size() && replacements_.of(prediction_[next_]) == id) {
    replacements_.observe(prediction_[next_], id);
    ++next_;
    ++run_;
    return;
  }
  if (next_ < prediction_.size() && !was_replacement) {
    replacements_.observe(prediction_[next_], id);
    departed_ = next_++;
    run_ = 0;
    is_replacement_ = true;
    return;
  }
  run_ = 0;
  if (was_replacement && prediction_[departed_] == id) {  // the token before was inserted
    next_ = departed_ + 1;
    run_ = 1;
    return;
  }
  const TokenIndex::Match match = index_.find(prediction_, answer, departed_, kNumCandidates);
  next_ = match.length == 0 ? prediction_.size() : match.next;
  run_ = match.length;
}

Guess PredictionDraft::guess(std::span<const int32_t> tokens, std::span<int32_t> out) {
  while (num_seen_ < tokens.size()) {
    ++num_seen_;
    follow(tokens.subspan(num_prompt_, num_seen_ - num_prompt_));
  }
  const size_t count = std::min(out.size(), prediction_.size() - next_);
  for (size_t i = 0; i < count; ++i) out[i] = replacements_.of(prediction_[next_ + i]);
  return {uint32_t(count), trust_of(run_)};
}

}  // namespace gainz
