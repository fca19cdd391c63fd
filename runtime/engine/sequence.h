// Sequence: one row of tokens on its way: what is known, what is computed, which blocks hold it, which rows its request wants
// to see.
//
// Before: Engine makes one of a Request. After: Scheduler gives it tokens to run, Batch lays them out, the Sampler adds to it.
// Owner: the Engine. Threads: the engine's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "engine/page_pool.h"
#include "gainz/sdk/program.h"

namespace gainz {

struct Speculation;

enum class SequenceState : uint8_t { waiting, running, finished };

struct Sequence {
  uint64_t arrival = 0;  // rising; among equal priorities the earlier runs first
  int32_t priority = 0;  // higher runs first
  SequenceState state = SequenceState::waiting;

  std::vector<int32_t> tokens;            // prompt, then generated
  std::vector<uint8_t> phases;            // [tokens] GAINZ_PHASE_*; part of a token's history, kept in a replay
  std::vector<int32_t> draft;             // guesses of what comes next, to be checked by the next step (generated phase)
  uint32_t num_computed = 0;              // tokens whose K and V are in pages and stand
  uint32_t num_cached = 0;                // of these, taken from the prefix cache at the first start
  uint32_t one_by_one_from = UINT32_MAX;  // tokens from this index on run alone in their step
  uint32_t num_preemptions = 0;
  bool started = false;
  bool use_cache = true;
  bool paused = false;                 // gets no tokens
  Speculation* speculation = nullptr;  // null: none

  // Rows of the step's outputs that somebody wants to see, by token index.
  uint32_t all_rows_until = 0;  // every one below this
  std::vector<uint32_t> rows;   // these (rising)
  bool sample_last = false;     // the last token's and the draft's, to draw the next
  uint32_t rows_from = 0;       // rows below this have been seen

  std::vector<BlockId> blocks;  // block i holds tokens [16 i, 16 i + 16)
  uint64_t root = 0;            // the pool's, for its salt
  uint64_t prefix_uid = 0;      // of the first num_sealed blocks
  uint32_t num_sealed = 0;
  std::array<uint32_t, kMaxPageGroups> num_dropped{};  // [groups] leading blocks without a page there

  uint32_t num_tokens() const { return uint32_t(tokens.size()); }
  uint32_t num_known() const { return num_tokens() + uint32_t(draft.size()); }
  // Tokens that are to run next: those that are certain; once these are computed, what is left of the draft.
  uint32_t num_remaining() const {
    if (paused) return 0;
    return (num_computed < num_tokens() ? num_tokens() : num_known()) - num_computed;
  }
  bool is_decode() const { return num_remaining() == 1 && num_computed > 0; }
  int32_t token(uint32_t i) const { return i < num_tokens() ? tokens[i] : draft[i - num_tokens()]; }
  uint8_t phase(uint32_t i) const { return i < num_tokens() ? phases[i] : uint8_t(GAINZ_PHASE_GENERATED); }
  bool wants_row(uint32_t i) const {
    return i >= rows_from &&
           (i < all_rows_until || (sample_last && i + 1 >= num_tokens()) || std::binary_search(rows.begin(), rows.end(), i));
  }
  // Runs before the other when both could.
  bool before(const Sequence& other) const {
    return priority != other.priority ? priority > other.priority : arrival < other.arrival;
  }
};

}  // namespace gainz
