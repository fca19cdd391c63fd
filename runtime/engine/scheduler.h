// Scheduler: who runs in the next step, and with how many tokens. It knows counts and page numbers, never tensors.
//
// Before: Engine adds sequences. After: Batch lays out what schedule() decided.
// Rules: sequences that generate go first, one token each, so that prefill never starves decode; then their drafts, as far as
// there are pages without pushing anyone out; what is left of the step's tokens goes to prompts in chunks, higher priority and
// then earlier arrival first; then waiting sequences are admitted. When pages run out, cache is evicted, then pages no window
// can see are taken back, then the last sequence in that order gives all its pages up and is recomputed later. Owner: the
// Engine. Threads: the engine's. In steady state nothing is allocated.
#pragma once

#include <vector>

#include "engine/page_pool.h"
#include "engine/sequence.h"

namespace gainz {

struct SchedulerLimits {
  uint32_t max_sequences = 16;
  uint32_t batch_tokens = 512;  // at least max_sequences
  uint32_t max_rows = 32;       // of outputs in a step, at least max_sequences
  bool phases_differ = false;   // the device's kernels depend on the phase: it becomes part of page keys
};

struct ScheduledTokens {
  Sequence* sequence;
  uint32_t num_tokens;
  uint32_t num_rows;
  uint32_t num_draft;  // of num_tokens: the last ones, which are guesses
};

struct Schedule {
  std::vector<ScheduledTokens> items;
  std::vector<PageCopy> copies;  // to be done before the step
  uint32_t num_tokens = 0, num_rows = 0;
};

class Scheduler {
 public:
  Scheduler(PagePool& pool, const SchedulerLimits& limits);

  void reserve(size_t num_sequences);  // room, so that nothing below fails for want of memory
  void add(Sequence* sequence);        // waits to be admitted; not owned
  void remove(Sequence* sequence);     // finished or cancelled: its blocks are released (full ones stay as cache)
  // Valid until the next call. Empty although something runs or waits: the first of it needs more pages than there are.
  const Schedule& schedule();
  void computed(const ScheduledTokens& item);  // the step has run: counts what is certain, seals full blocks
  void accept(Sequence& sequence);             // the next drafted token stands, and is in `tokens`
  void settle(Sequence& sequence);             // forgets the draft; blocks beyond what stands are given back
  void preempt(Sequence* sequence);            // gives its blocks up; it waits again and is recomputed

  Sequence* first() const { return !running_.empty() ? running_[0] : !waiting_.empty() ? waiting_[0] : nullptr; }
  std::span<Sequence* const> running() const { return running_; }
  uint32_t num_running() const { return uint32_t(running_.size()); }
  uint32_t num_waiting() const { return uint32_t(waiting_.size()); }
  uint64_t num_preemptions() const { return num_preemptions_; }

 private:
  bool give_tokens(Sequence& sequence);
  void give_drafts();
  void seal(Sequence& sequence);
  bool make_room(Sequence& sequence, uint32_t num_tokens);
  uint32_t affordable_tokens(const Sequence& sequence, uint32_t wanted);
  bool has_place(const Sequence& sequence) const;
  void make_way();
  void admit();
  void take_prefix(Sequence& sequence);
  uint32_t usable_prefix(const Sequence& sequence, uint32_t num_blocks, uint32_t limit) const;
  void drop_unseen_pages();
  uint32_t block_phases(const Sequence& sequence, uint32_t block) const;

  PagePool& pool_;
  const SchedulerLimits limits_;
  std::vector<Sequence*> running_, waiting_;  // both in the order of Sequence::before
  Schedule out_;
  uint64_t num_preemptions_ = 0;
};

}  // namespace gainz
