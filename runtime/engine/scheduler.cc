#include "engine/scheduler.h"

#include <algorithm>

namespace gainz {
namespace {

void insert_in_order(std::vector<Sequence*>& list, Sequence* sequence) {
  list.insert(
      std::upper_bound(list.begin(), list.end(), sequence, [](const Sequence* a, const Sequence* b) { return a->before(*b); }),
      sequence);
}

uint32_t blocks_for(uint32_t num_tokens) { return (num_tokens + kPageTokens - 1) / kPageTokens; }

std::span<const int32_t> block_tokens(const Sequence& sequence, uint32_t block) {
  return {sequence.tokens.data() + size_t{block} * kPageTokens, kPageTokens};
}

}  // namespace

Scheduler::Scheduler(PagePool& pool, const SchedulerLimits& limits) : pool_(pool), limits_(limits) {
  running_.reserve(limits.max_sequences + 1);
  out_.items.reserve(limits.max_sequences);
}

void Scheduler::reserve(size_t num_sequences) {
  waiting_.reserve(num_sequences + 1);
  out_.copies.reserve(limits_.max_sequences * pool_.num_groups());
}

void Scheduler::add(Sequence* sequence) {
  sequence->state = SequenceState::waiting;
  sequence->prefix_uid = sequence->root;
  insert_in_order(waiting_, sequence);
}

void Scheduler::remove(Sequence* sequence) {
  std::erase(running_, sequence);
  std::erase(waiting_, sequence);
  // The tail goes first, so that of an old prefix the tail is evicted first.
  for (size_t i = sequence->blocks.size(); i-- > 0;) pool_.release(sequence->blocks[i]);
  sequence->blocks.clear();
  sequence->state = SequenceState::finished;
}

void Scheduler::preempt(Sequence* sequence) {
  remove(sequence);
  // The row behind a drafted token that stood may have gone with the step.
  if (sequence->sample_last) sequence->rows_from = std::min(sequence->rows_from, sequence->num_tokens() - 1);
  sequence->draft.clear();
  sequence->num_computed = 0;
  sequence->num_sealed = 0;
  sequence->num_dropped = {};
  ++sequence->num_preemptions;
  ++num_preemptions_;
  add(sequence);
}

const Schedule& Scheduler::schedule() {
  do {
    out_.items.clear();
    out_.copies.clear();
    out_.num_tokens = out_.num_rows = 0;
    make_way();
    for (size_t i = 0; i < running_.size();) {  // a sequence that had to go makes room for the next in its place
      Sequence* sequence = running_[i];
      if (!sequence->is_decode() || give_tokens(*sequence)) ++i;
    }
    give_drafts();
    for (size_t i = 0; i < running_.size(); ++i)
      if (!running_[i]->is_decode()) give_tokens(*running_[i]);
    admit();
    // Prompts that hold pages and block each other: the last one gives way.
    if (!out_.items.empty() || running_.size() < 2) return out_;
    preempt(running_.back());
  } while (true);
}

// Puts the sequence into the step; false if it is not running any more.
bool Scheduler::give_tokens(Sequence& s) {
  uint32_t n = std::min(s.num_remaining(), limits_.batch_tokens - out_.num_tokens);
  if (s.num_computed >= s.one_by_one_from)
    n = std::min(n, 1u);
  else
    n = std::min(n, s.one_by_one_from - s.num_computed);
  uint32_t num_rows = 0, num_tokens = 0;
  for (; num_tokens < n; ++num_tokens) {
    if (!s.wants_row(s.num_computed + num_tokens)) continue;
    if (out_.num_rows + num_rows == limits_.max_rows) break;
    ++num_rows;
  }
  if (num_tokens == 0) return true;
  if (!make_room(s, num_tokens)) {
    if (s.state != SequenceState::running) return false;
    num_tokens = affordable_tokens(s, num_tokens);
    if (num_tokens == 0 || !make_room(s, num_tokens)) return true;
    num_rows = 0;
    for (uint32_t i = 0; i < num_tokens; ++i) num_rows += s.wants_row(s.num_computed + i);
  }
  out_.items.push_back({&s, num_tokens, num_rows, 0});
  out_.num_tokens += num_tokens;
  out_.num_rows += num_rows;
  return true;
}

// Adds drafts to the tokens that are certain. They take what is free: a draft is never worth another sequence's pages.
void Scheduler::give_drafts() {
  for (ScheduledTokens& item : out_.items) {
    Sequence& s = *item.sequence;
    const uint32_t begin = s.num_computed + item.num_tokens;
    if (begin < s.num_tokens()) continue;
    uint32_t n = std::min({s.num_known() - begin, limits_.batch_tokens - out_.num_tokens, limits_.max_rows - out_.num_rows});
    while (s.blocks.size() < blocks_for(begin + n)) {
      const auto block = pool_.allocate();
      if (!block) break;
      s.blocks.push_back(*block);
    }
    n = std::min(n, uint32_t(s.blocks.size()) * kPageTokens - begin);
    item.num_tokens += n;
    item.num_rows += n;
    item.num_draft = n;
    out_.num_tokens += n;
    out_.num_rows += n;
  }
}

// Allocates the blocks for num_tokens more. A decode may push others out, and itself last; a prompt only those of lower
// priority.
bool Scheduler::make_room(Sequence& s, uint32_t num_tokens) {
  const uint32_t needed = blocks_for(s.num_computed + num_tokens);
  while (needed > s.blocks.size() && !pool_.can_allocate(needed - uint32_t(s.blocks.size()))) {
    drop_unseen_pages();
    if (pool_.can_allocate(needed - uint32_t(s.blocks.size()))) break;
    Sequence* victim = running_.back();
    const bool scheduled =
        std::any_of(out_.items.begin(), out_.items.end(), [&](const auto& item) { return item.sequence == victim; });
    if (scheduled || (!s.is_decode() && victim->priority >= s.priority)) return false;
    preempt(victim);
    if (victim == &s) return false;
  }
  while (s.blocks.size() < needed) {
    const auto block = pool_.allocate();
    if (!block) return false;
    s.blocks.push_back(*block);
  }
  return true;
}

// The most tokens, at most `wanted`, for which there are pages.
uint32_t Scheduler::affordable_tokens(const Sequence& s, uint32_t wanted) {
  for (uint32_t n = wanted; n > 0; --n) {
    const uint32_t needed = blocks_for(s.num_computed + n);
    if (needed <= s.blocks.size() || pool_.can_allocate(needed - uint32_t(s.blocks.size()))) return n;
  }
  return 0;
}

// Room for all that is known of it and a block for each running sequence to grow into, or it would soon be pushed out again.
bool Scheduler::has_place(const Sequence& s) const {
  if (running_.empty()) return true;
  return running_.size() < limits_.max_sequences && pool_.can_allocate(blocks_for(s.num_tokens()) + uint32_t(running_.size()));
}

// What waits with a higher priority pushes out what runs with a lower one.
void Scheduler::make_way() {
  while (!waiting_.empty() && !running_.empty() && waiting_.front()->priority > running_.back()->priority &&
         !has_place(*waiting_.front()))
    preempt(running_.back());
}

void Scheduler::admit() {
  while (!waiting_.empty() && out_.num_tokens < limits_.batch_tokens && out_.num_rows < limits_.max_rows) {
    Sequence* s = waiting_.front();
    if (!has_place(*s)) return;
    waiting_.erase(waiting_.begin());
    s->state = SequenceState::running;
    insert_in_order(running_, s);
    take_prefix(*s);
    if (!s->started) s->num_cached = s->num_computed;
    s->started = true;
    give_tokens(*s);
  }
}

void Scheduler::take_prefix(Sequence& s) {
  s.prefix_uid = s.root;
  if (!s.use_cache) return;
  uint32_t limit = s.rows_from;  // the first row that must be computed
  while (limit < s.num_tokens() && !s.wants_row(limit)) ++limit;
  limit = std::min(limit, s.num_tokens() - 1);
  std::vector<BlockId>& blocks = s.blocks;
  for (uint64_t uid = s.root; (blocks.size() + 1) * kPageTokens <= s.num_tokens() && blocks.size() * kPageTokens < limit;) {
    const uint32_t i = uint32_t(blocks.size());
    const BlockId block = pool_.find(uid, block_tokens(s, i), block_phases(s, i));
    if (block == kNoBlock) break;
    blocks.push_back(block);
    uid = pool_.uid(block);
  }
  blocks.resize(usable_prefix(s, uint32_t(blocks.size()), limit));
  for (const BlockId block : blocks) pool_.retain(block);
  if (blocks.size() * kPageTokens > limit) {  // the last block is to be written to: copy on write
    const BlockId shared = blocks.back();
    const auto own = pool_.copy(shared, out_.copies);
    blocks.pop_back();
    pool_.release(shared);
    if (own) blocks.push_back(*own);
  }
  s.num_computed = std::min(uint32_t(blocks.size()) * kPageTokens, limit);
  s.num_sealed = s.num_computed / kPageTokens;
  if (s.num_sealed > 0) s.prefix_uid = pool_.uid(blocks[s.num_sealed - 1]);
}

// The longest run of the first num_blocks whose windowed pages, as far as the next token will see them, are still there.
uint32_t Scheduler::usable_prefix(const Sequence& s, uint32_t num_blocks, uint32_t limit) const {
  for (uint32_t g = 0; g < pool_.num_groups() && num_blocks > 0;) {
    const uint32_t next = std::min(num_blocks * kPageTokens, limit), window = pool_.window(g);
    uint32_t missing = kNoBlock;
    if (window > 0)
      for (uint32_t b = (next + 1 > window ? next + 1 - window : 0) / kPageTokens; b < num_blocks; ++b)
        if (pool_.page(s.blocks[b], g) == 0) missing = b;
    if (missing == kNoBlock)
      ++g;
    else
      num_blocks = missing, g = 0;
  }
  return num_blocks;
}

void Scheduler::computed(const ScheduledTokens& item) {
  Sequence& s = *item.sequence;
  s.num_computed += item.num_tokens - item.num_draft;
  s.rows_from = std::max(s.rows_from, s.num_computed);
  seal(s);
}

void Scheduler::accept(Sequence& s) {
  ++s.num_computed;
  s.rows_from = std::max(s.rows_from, s.num_computed);
  seal(s);
}

void Scheduler::settle(Sequence& s) {
  s.draft.clear();
  for (const uint32_t needed = blocks_for(s.num_computed); s.blocks.size() > needed; s.blocks.pop_back())
    pool_.release(s.blocks.back());
}

// Only what is certain enters the index.
void Scheduler::seal(Sequence& s) {
  if (!s.use_cache) return;
  for (; (s.num_sealed + 1) * kPageTokens <= std::min(s.num_computed, s.num_tokens()); ++s.num_sealed)
    s.prefix_uid =
        pool_.seal(s.blocks[s.num_sealed], s.prefix_uid, block_tokens(s, s.num_sealed), block_phases(s, s.num_sealed));
}

void Scheduler::drop_unseen_pages() {
  for (Sequence* s : running_) {
    for (uint32_t g = 0; g < pool_.num_groups(); ++g) {
      const uint32_t window = pool_.window(g);
      if (window == 0 || s->num_computed + 1 <= window) continue;
      const uint32_t num_unseen = std::min((s->num_computed + 1 - window) / kPageTokens, uint32_t(s->blocks.size()));
      for (; s->num_dropped[g] < num_unseen; ++s->num_dropped[g]) pool_.drop_page(s->blocks[s->num_dropped[g]], g);
    }
  }
}

uint32_t Scheduler::block_phases(const Sequence& s, uint32_t block) const {
  if (!limits_.phases_differ) return 0;
  uint32_t bits = 0;
  for (uint32_t i = 0; i < kPageTokens; ++i) bits |= uint32_t(s.phases[size_t{block} * kPageTokens + i] & 1) << i;
  return bits;
}

}  // namespace gainz
