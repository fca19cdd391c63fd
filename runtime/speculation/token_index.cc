#include "speculation/token_index.h"

#include <algorithm>
#include <bit>

namespace gainz {
namespace {

constexpr size_t kMinBuckets = 64, kMaxBuckets = size_t{1} << 16;
constexpr size_t kMaxLength = 32;  // tokens compared for each place

}  // namespace

TokenIndex::TokenIndex(size_t max_tokens)
    : head_(std::clamp(std::bit_ceil(max_tokens), kMinBuckets, kMaxBuckets)), previous_(max_tokens) {}

// Multiplicative hashing (Knuth, volume 3, section 6.4) with the 64-bit golden ratio.
size_t TokenIndex::bucket(int32_t first, int32_t second) const {
  const uint64_t pair = uint64_t{uint32_t(first)} << 32 | uint32_t(second);
  return size_t(pair * 0x9E3779B97F4A7C15u >> (64 - std::countr_zero(head_.size())));
}

void TokenIndex::extend(std::span<const int32_t> tokens) {
  if (tokens.empty()) return;
  const size_t end = std::min(tokens.size() - 1, previous_.size());
  for (size_t i = std::max<size_t>(num_entered_, 1); i < end; ++i) {
    uint32_t& head = head_[bucket(tokens[i - 1], tokens[i])];
    previous_[i] = head;
    head = uint32_t(i + 1);
  }
  num_entered_ = std::max(num_entered_, end);
}

TokenIndex::Match TokenIndex::find(std::span<const int32_t> tokens, std::span<const int32_t> recent, size_t near,
                                   uint32_t num_candidates) const {
  Match best;
  if (recent.size() < 2) return best;
  const auto distance = [near](size_t next) { return next > near ? next - near : near - next; };
  uint32_t place = head_[bucket(recent[recent.size() - 2], recent.back())];
  for (; place != 0 && num_candidates > 0; --num_candidates, place = previous_[place - 1]) {
    const size_t limit = std::min({kMaxLength, size_t{place}, recent.size()});
    size_t length = 0;
    while (length < limit && tokens[place - 1 - length] == recent[recent.size() - 1 - length]) ++length;
    if (length < 2) continue;  // another pair with the same hash
    if (length > best.length || (length == best.length && distance(place) < distance(best.next)))
      best = {place, uint32_t(length)};
  }
  return best;
}

}  // namespace gainz
