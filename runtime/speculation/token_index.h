// TokenIndex: where each pair of neighbouring tokens stands in a row of tokens, to find earlier places that look like its end.
//
// Hash chains: `head_` holds the last position of a pair's hash, `previous_` the one before each position. Memory: 4 bytes a
// token and at most 256 KiB, taken at construction; work: constant for each token entered, bounded for each search. Owner: a
// draft. Threads: the engine's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gainz {

class TokenIndex {
 public:
  explicit TokenIndex(size_t max_tokens);  // tokens beyond that many are not entered

  // Enters the pairs of `tokens` that are new since the last call and have a token behind them.
  void extend(std::span<const int32_t> tokens);

  struct Match {
    uint32_t next = 0;    // position behind the place that was found
    uint32_t length = 0;  // tokens before it that equal the end of `recent`; 0: none was found
  };
  // The place in `tokens`, as entered, before which the most tokens equal the end of `recent`; among equals the one nearest to
  // `near`. Looks at the last num_candidates places of the pair.
  Match find(std::span<const int32_t> tokens, std::span<const int32_t> recent, size_t near, uint32_t num_candidates) const;

 private:
  size_t bucket(int32_t first, int32_t second) const;

  std::vector<uint32_t> head_;      // position + 1; 0: none
  std::vector<uint32_t> previous_;  // [max_tokens] the same, of the place before
  size_t num_entered_ = 0;          // positions below this have been entered (0 has no pair)
};

}  // namespace gainz
