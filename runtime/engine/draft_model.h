// DraftModel: a smaller model that writes drafts for sequences of the engine, all of them in one batch, with pages of its own.
//
// Before: Speculator says how many tokens it wants for whom. After: the guests' drafts are checked by the target's next step.
// A guest follows its sequence: what the target refused is forgotten by truncating its pages, what it added is computed with
// the next round. Its sampler is the target's with the same seed, so it draws with the same noise ("drafter-invariant"
// coupling: Daliri, Musco, Suresh 2024). A round: one pass in which guests catch up (a long prompt in chunks over several
// rounds, undrafted until then), then one pass for each further token.
//
// Owner: the Engine. Threads: the engine's. Nothing is allocated in a round, but for the room of a sequence's tokens.
#pragma once

#include <algorithm>
#include <memory>

#include "engine/batch.h"
#include "engine/engine_options.h"
#include "sampler/sampler.h"
#include "speculation/draft.h"
#include "speculation/step_cost.h"

namespace gainz {

struct DraftGuest : Sequence {
  explicit DraftGuest(Sampler&& s) : sampler(std::move(s)) {}
  Sampler sampler;
  SampledToken sampled;
  uint32_t num_prompt = 0;
  uint32_t num_wanted = 0;  // drafted tokens of this round
};

class DraftModel {
 public:
  static Result<std::unique_ptr<DraftModel>> create(const Services& services, std::unique_ptr<Model> model,
                                                    const EngineOptions& options);

  // A guest for a sequence that can reach `end` tokens. Errors: the sampler's, for this model's vocabulary.
  Result<std::unique_ptr<DraftGuest>> admit(const Sequence& target, uint32_t num_prompt, uint32_t end,
                                            const SamplingParams& sampling, const std::vector<int32_t>& end_ids);
  void remove(DraftGuest* guest);  // not before the pass in flight is over
  uint32_t context() const { return options_.context; }

  // Begins a round: guest->num_wanted tokens for each, after what `target` holds now.
  void begin();
  void join(DraftGuest& guest, const Sequence& target, uint32_t num_wanted);
  Result<bool> advance();  // the next slice; true when the round is over
  void abandon();          // the round, after an error
  double pass_us(uint32_t num_guests) const { return cost_.predict_us(num_guests, 0); }  // 0: not known yet
  // To compute what the guest has not followed yet. 0: not known yet.
  double catch_up_us(const DraftGuest& guest, const Sequence& target) const {
    return prompt_token_us_ * (target.num_tokens() - std::min(target.num_tokens(), guest.num_computed));
  }

 private:
  explicit DraftModel(const EngineOptions& options) : options_(options) {}
  bool begin_pass(Status& out_status);
  Status finish_pass();

  const EngineOptions options_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<PagePool> pool_;
  std::unique_ptr<Scheduler> scheduler_;
  Batch batch_;
  StepCost cost_;
  std::vector<DraftGuest*> round_;
  const Schedule* in_flight_ = nullptr;
  uint32_t num_passes_ = 0;  // of the round
  double pass_begin_us_ = 0, prompt_token_us_ = 0;
  uint64_t num_guests_ = 0;
};

}  // namespace gainz
