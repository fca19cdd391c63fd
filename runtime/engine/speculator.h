// Speculator: which sequence brings how many drafted tokens to the next step, and what is learnt from it.
//
// Before: Engine is about to schedule. After: Scheduler adds `Sequence::draft` to the step; Engine keeps the drafted tokens
// that its samplers pick themselves. Drafts therefore never change a token; they only decide how many come out of a step.
//
// Owner: the Engine. Threads: the engine's. In steady state nothing is allocated.
#pragma once

#include <array>
#include <memory>

#include "engine/draft_model.h"
#include "engine/request.h"
#include "speculation/acceptance.h"
#include "speculation/depths.h"
#include "speculation/draft.h"

namespace gainz {

// What speculation keeps of one sequence.
struct Speculation {
  explicit Speculation(const Acceptance& common) : acceptance(&common) {}

  gainz_speculation settings{};
  uint32_t end = 0;  // the length that the sequence can reach
  std::array<std::unique_ptr<Draft>, kNumDraftKinds> drafts;
  std::unique_ptr<DraftGuest> guest;
  Acceptance acceptance;
  std::array<uint32_t, kNumDraftKinds> num_drafted{}, num_accepted{};

  // Of the step that is planned or in flight.
  DraftKind kind = DraftKind::ngram;
  uint32_t trust = 0;
  uint32_t num_wanted = 0;   // tokens asked of the draft model
  uint32_t num_checked = 0;  // tokens in the step
  uint32_t num_stood = 0;
  bool is_probe = false;

  // Steps since a guess was last tried, and after how many the next one is tried although it does not seem worth it.
  uint32_t num_idle = 0, probe_interval = 0;
};

class Speculator {
 public:
  Speculator(const SchedulerLimits& limits, const PagePool& pool, uint32_t vocab_size, std::unique_ptr<DraftModel> draft_model);

  // What the sequence's request asks for; null where it asks for none. end: the length that the sequence can reach.
  std::unique_ptr<Speculation> admit(const Sequence& sequence, const Request& request, uint32_t end,
                                     const std::vector<int32_t>& end_ids);
  void remove(Speculation& speculation);  // gives up its guest; not while is_drafting()

  // Fills the drafts of the running sequences, or begins to.
  void plan(const Scheduler& scheduler);
  bool is_drafting() const { return is_drafting_; }
  // The draft model's next slice; true when all drafts are written. An error ends the use of the draft model.
  Result<bool> advance();

  void begin_step(const Schedule& schedule);  // what will run
  void stood(Sequence& sequence);             // one more drafted token of it
  void finish_step(const Schedule& schedule, double us);

  void add_counts(gainz_model_stats& stats) const;

 private:
  struct Candidate {
    Sequence* sequence;
    std::array<int32_t, kMaxDraftTokens> ids;
  };
  bool guess(Sequence& sequence, const DepthLimits& limits);
  void choose_kind(Sequence& sequence, Candidate& candidate, DepthQuestion& question, const DepthLimits& limits);
  void take(Candidate& candidate, DepthQuestion& question, uint32_t& num_left);
  void check(Sequence& sequence);

  const SchedulerLimits limits_;
  const PagePool& pool_;
  const uint32_t vocab_size_;
  std::unique_ptr<DraftModel> draft_model_;
  StepCost cost_;
  Acceptance common_{nullptr};
  std::vector<Candidate> candidates_;     // of the step that is planned
  std::vector<DepthQuestion> questions_;  // [candidates]
  bool is_drafting_ = false, draft_model_failed_ = false;

  uint32_t step_tokens_ = 0;
  double step_attended_ = 0, step_predicted_us_ = 0;  // predicted 0: not foreseen
  bool step_is_decode_ = false;
  std::array<uint64_t, kNumDraftKinds> num_drafted_{}, num_accepted_{};
  double decode_us_ = 0, predicted_us_ = 0;
};

}  // namespace gainz
