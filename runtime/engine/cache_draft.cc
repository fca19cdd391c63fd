#include "engine/cache_draft.h"

namespace gainz {
namespace {

constexpr uint32_t kNumCandidates = 16;

}  // namespace

Guess CacheDraft::guess(std::span<const int32_t> tokens, std::span<int32_t> out) {
  uint64_t prefix = sequence_.prefix_uid;
  std::span<const int32_t> tail =
      tokens.subspan(size_t{sequence_.num_sealed} * kPageTokens);  // not computed in whole, so not sealed
  const uint32_t trust = tail.size() < 4 ? 0 : tail.size() < 12 ? 1 : 2;
  uint32_t count = 0;
  while (count < out.size() && tail.size() <= kPageTokens) {
    const BlockId block = pool_.follower(prefix, tail, kNumCandidates);
    if (block == kNoBlock) break;
    const auto follows = pool_.tokens(block).subspan(tail.size());
    const size_t taken = std::min(follows.size(), out.size() - count);
    std::copy_n(follows.begin(), taken, out.begin() + count);
    count += uint32_t(taken);
    prefix = pool_.uid(block);
    tail = {};
  }
  return {count, trust};
}

}  // namespace gainz
