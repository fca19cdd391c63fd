#include "sampler/row_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace gainz {
namespace {

constexpr size_t kLanes = 16;
constexpr size_t kBlock = 1024;  // logits; the winner is searched in its block alone

// Orders floats as integers: negative NaN < -inf < ... < +inf < positive NaN. Its own inverse.
constexpr int32_t order_key(int32_t bits) { return bits ^ ((bits >> 31) & 0x7fffffff); }
constexpr int32_t kInfinityKey = 0x7f800000;
constexpr int32_t kMinusInfinityKey = order_key(static_cast<int32_t>(0xff800000));

struct Extremes {
  int32_t lowest, highest;
};

// Independent lanes, so that the compiler may use vectors: integer minimum and maximum do not depend on the order.
Extremes block_extremes(std::span<const float> block) {
  int32_t low[kLanes], high[kLanes];
  std::fill_n(low, kLanes, std::numeric_limits<int32_t>::max());
  std::fill_n(high, kLanes, std::numeric_limits<int32_t>::min());
  size_t i = 0;
  for (; i + kLanes <= block.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const int32_t key = order_key(std::bit_cast<int32_t>(block[i + lane]));
      low[lane] = key < low[lane] ? key : low[lane];
      high[lane] = key > high[lane] ? key : high[lane];
    }
  }
  for (; i < block.size(); ++i) {
    const int32_t key = order_key(std::bit_cast<int32_t>(block[i]));
    low[0] = std::min(low[0], key);
    high[0] = std::max(high[0], key);
  }
  return {*std::min_element(low, low + kLanes), *std::max_element(high, high + kLanes)};
}

}  // namespace

Result<RowBest> scan_row(std::span<const float> logits) {
  float best = -std::numeric_limits<float>::infinity();
  size_t best_block = 0;
  for (size_t begin = 0; begin < logits.size(); begin += kBlock) {
    const auto block = logits.subspan(begin, std::min(kBlock, logits.size() - begin));
    const Extremes extremes = block_extremes(block);
    if (extremes.lowest < kMinusInfinityKey || extremes.highest >= kInfinityKey) {
      const auto bad =
          std::find_if(block.begin(), block.end(), [](float x) { return !(x < std::numeric_limits<float>::infinity()); });
      return Status(Code::invalid, "the logit of token id " + std::to_string(begin + static_cast<size_t>(bad - block.begin())) +
                                       " is " + (std::isnan(*bad) ? "not a number" : "+infinity"));
    }
    const float highest = std::bit_cast<float>(order_key(extremes.highest));
    if (highest > best) {
      best = highest;
      best_block = begin;
    }
  }
  const auto found = std::find(logits.begin() + static_cast<std::ptrdiff_t>(best_block), logits.end(), best);
  return RowBest{best, static_cast<int32_t>(found - logits.begin())};
}

}  // namespace gainz
