#include "tokenizer/piece_matcher.h"

#include <algorithm>

namespace gainz {

PieceMatcher::PieceMatcher(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.text < b.text; });
  for (const Piece& piece : pieces_) ++first_[static_cast<uint8_t>(piece.text[0]) + size_t{1}];
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

PieceMatcher::Range PieceMatcher::narrow(Range range, size_t depth, char c) const {
  const auto wanted = static_cast<uint8_t>(c);
  const auto byte_at = [&](size_t i) { return static_cast<uint8_t>(pieces_[i].text[depth]); };
  size_t low = range.low, high = range.high;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (byte_at(middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  const size_t begin = low;
  high = range.high;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (byte_at(middle) <= wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return {begin, low};
}

}  // namespace gainz
