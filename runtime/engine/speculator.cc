#include "engine/speculator.h"

#include <algorithm>

#include "engine/cache_draft.h"
#include "speculation/ngram_draft.h"
#include "speculation/noise_draft.h"
#include "speculation/prediction_draft.h"

namespace gainz {
namespace {

constexpr uint32_t kDefaultKinds = (1u << GAINZ_NUM_DRAFT_KINDS) - 1 - (1u << GAINZ_DRAFT_NOISE);
constexpr uint32_t kFirstProbeInterval = 16, kLastProbeInterval = 256;  // steps
constexpr uint32_t kSpareRows = 4;                                      // of a step, for prompts that end in it
constexpr double kMaxDelay = 1.25;  // a step in which others wait takes at most so many times as long for the drafts in it
constexpr uint32_t kPaidBackTokens = 64;
constexpr double kLeastGain = 0.02;  // below, a draft is not worth its risk

}  // namespace

Speculator::Speculator(const SchedulerLimits& limits, const PagePool& pool, uint32_t vocab_size,
                       std::unique_ptr<DraftModel> draft_model)
    : limits_(limits), pool_(pool), vocab_size_(vocab_size), draft_model_(std::move(draft_model)) {
  candidates_.reserve(limits.max_sequences);
  questions_.reserve(limits.max_sequences);
}

std::unique_ptr<Speculation> Speculator::admit(const Sequence& sequence, const Request& request, uint32_t end,
                                               const std::vector<int32_t>& end_ids) {
  const uint32_t mode = request.speculation.mode;
  const uint32_t num_prompt = sequence.num_tokens();
  if (mode == GAINZ_SPECULATION_OFF || end < num_prompt + 2) return nullptr;
  auto speculation = std::make_unique<Speculation>(common_);
  gainz_speculation& settings = speculation->settings;
  settings = request.speculation;
  if (settings.kinds == 0) settings.kinds = kDefaultKinds;
  if (mode == GAINZ_SPECULATION_AUTO && settings.depth == 0) settings.depth = kMaxDraftTokens;
  speculation->end = end;
  speculation->probe_interval = kFirstProbeInterval;
  const auto wants = [&](DraftKind kind) { return (settings.kinds >> uint32_t(kind) & 1) != 0; };
  const auto draft = [&](DraftKind kind) -> std::unique_ptr<Draft>& { return speculation->drafts[size_t(kind)]; };
  if (wants(DraftKind::ngram)) draft(DraftKind::ngram) = std::make_unique<NgramDraft>(end);
  if (wants(DraftKind::prediction) && !request.prediction.empty())
    draft(DraftKind::prediction) = std::make_unique<PredictionDraft>(request.prediction, num_prompt);
  if (wants(DraftKind::cache) && sequence.use_cache) draft(DraftKind::cache) = std::make_unique<CacheDraft>(pool_, sequence);
  if (wants(DraftKind::noise)) draft(DraftKind::noise) = std::make_unique<NoiseDraft>(vocab_size_);
  if (wants(DraftKind::model) && draft_model_) {
    // One that its sampler refuses (a bias on an id that the draft model has no logit for) goes without.
    auto guest = draft_model_->admit(sequence, num_prompt, end, request.sampling, end_ids);
    if (guest.ok()) speculation->guest = std::move(guest).value();
  }
  return speculation;
}

void Speculator::remove(Speculation& speculation) {
  if (speculation.guest && draft_model_) draft_model_->remove(speculation.guest.get());
  speculation.guest.reset();
}

void Speculator::plan(const Scheduler& scheduler) {
  candidates_.clear();
  questions_.clear();
  DepthLimits limits;
  bool others = scheduler.num_waiting() > 0;
  for (Sequence* sequence : scheduler.running()) {
    sequence->draft.clear();
    if (!sequence->is_decode()) {
      others = true;
      continue;
    }
    ++limits.num_tokens;
    limits.attended += sequence->num_tokens();
  }
  uint32_t num_left = std::min(limits_.max_rows, limits_.batch_tokens);
  num_left -= std::min(num_left, limits.num_tokens + (others ? kSpareRows : 0));
  limits.max_drafted = num_left;
  limits.max_delay = limits.num_tokens > 1 ? kMaxDelay : 0;
  limits.least_gain = kLeastGain;
  for (Sequence* sequence : scheduler.running())
    if (sequence->speculation && sequence->is_decode()) guess(*sequence, limits);
  if (candidates_.empty()) return;
  choose_depths(cost_, limits, questions_);
  if (draft_model_) draft_model_->begin();
  for (size_t i = 0; i < candidates_.size(); ++i) take(candidates_[i], questions_[i], num_left);
}

// Enters the sequence's best guess among the candidates; false where it has none.
bool Speculator::guess(Sequence& sequence, const DepthLimits& limits) {
  const Speculation& speculation = *sequence.speculation;
  if (sequence.num_tokens() + 1 >= speculation.end) return false;
  Candidate& candidate = candidates_.emplace_back();
  DepthQuestion& question = questions_.emplace_back();
  candidate.sequence = &sequence;
  question.context = sequence.num_tokens();
  question.most = std::min(speculation.settings.depth, speculation.end - 1 - sequence.num_tokens());
  choose_kind(sequence, candidate, question, limits);
  if (question.most > 0) return true;
  candidates_.pop_back();
  questions_.pop_back();
  return false;
}

// The guess of the highest acceptance; the draft model's only where it promises more tokens a second in spite of its time.
void Speculator::choose_kind(Sequence& sequence, Candidate& candidate, DepthQuestion& question, const DepthLimits& limits) {
  Speculation& speculation = *sequence.speculation;
  const uint32_t room = question.most;
  question.most = 0;
  std::array<int32_t, kMaxDraftTokens> ids;
  for (size_t k = 0; k < kNumDraftKinds; ++k) {
    if (!speculation.drafts[k]) continue;
    const Guess guess = speculation.drafts[k]->guess(sequence.tokens, std::span(ids).first(room));
    if (guess.num_tokens == 0) continue;
    const double acceptance = speculation.acceptance.estimate(DraftKind(k), guess.trust);
    if (question.most > 0 && acceptance <= question.acceptance) continue;
    question.most = guess.num_tokens;
    question.acceptance = acceptance;
    speculation.kind = DraftKind(k);
    speculation.trust = guess.trust;
    candidate.ids = ids;
  }
  if (!speculation.guest || draft_model_failed_ || speculation.end > draft_model_->context()) return;
  DepthQuestion other = question;
  other.most = room;
  other.acceptance = speculation.acceptance.estimate(DraftKind::model, 0);
  // What it has to follow first is paid back by the tokens that may still come.
  const double catch_up_us = draft_model_->catch_up_us(*speculation.guest, sequence) /
                             std::min(kPaidBackTokens, std::max(1u, speculation.end - sequence.num_tokens()));
  other.draft_us = draft_model_->pass_us(limits.num_tokens) / limits.num_tokens + catch_up_us;
  if (speculation.settings.mode != GAINZ_SPECULATION_FIXED && cost_.predict_us(limits.num_tokens, limits.attended) > 0) {
    DepthQuestion hope = other;  // not even worth a try where it would not pay if every token stood
    hope.acceptance = 1;
    choose_depths(cost_, limits, {&hope, 1});
    if (hope.depth == 0) return;
  }
  const bool is_better =
      question.most == 0 || choose_depths(cost_, limits, {&other, 1}) > choose_depths(cost_, limits, {&question, 1});
  if (!is_better) return;
  question = other;
  speculation.kind = DraftKind::model;
  speculation.trust = 0;
}

// Puts the chosen depth into the sequence, or tries one token from time to time where none is worth it by now.
void Speculator::take(Candidate& candidate, DepthQuestion& question, uint32_t& num_left) {
  Sequence& sequence = *candidate.sequence;
  Speculation& speculation = *sequence.speculation;
  uint32_t depth = question.depth;
  if (speculation.settings.mode == GAINZ_SPECULATION_FIXED) depth = question.most;
  speculation.is_probe = depth == 0 && ++speculation.num_idle >= speculation.probe_interval;
  if (speculation.is_probe) depth = 1;
  depth = std::min(depth, num_left);
  num_left -= depth;
  speculation.num_wanted = 0;
  if (depth == 0) return;
  speculation.num_idle = 0;
  if (speculation.kind != DraftKind::model) {
    sequence.draft.assign(candidate.ids.begin(), candidate.ids.begin() + depth);
    return;
  }
  speculation.num_wanted = depth;
  draft_model_->join(*speculation.guest, sequence, depth);
  is_drafting_ = true;
}

Result<bool> Speculator::advance() {
  const Result<bool> done = draft_model_->advance();
  if (done.ok() && !*done) return false;
  is_drafting_ = false;
  for (Candidate& candidate : candidates_) {
    Speculation* speculation = candidate.sequence->speculation;
    if (!speculation || speculation->num_wanted == 0 || !done.ok()) continue;
    const auto& draft = speculation->guest->draft;
    candidate.sequence->draft.assign(draft.begin(), draft.end());
  }
  if (done.ok()) return true;
  draft_model_->abandon();
  draft_model_failed_ = true;
  return done;
}

void Speculator::begin_step(const Schedule& schedule) {
  step_tokens_ = schedule.num_tokens;
  step_attended_ = 0;
  step_is_decode_ = true;
  for (const ScheduledTokens& item : schedule.items) {
    const Sequence& s = *item.sequence;
    step_is_decode_ &=
        item.num_tokens - item.num_draft == 1 && s.num_computed > 0 && s.phase(s.num_computed) == GAINZ_PHASE_GENERATED;
    for (uint32_t i = 1; i <= item.num_tokens; ++i) step_attended_ += s.num_computed + i;
    if (!s.speculation) continue;
    s.speculation->num_checked = item.num_draft;
    s.speculation->num_stood = 0;
    s.speculation->num_drafted[size_t(s.speculation->kind)] += item.num_draft;
    num_drafted_[size_t(s.speculation->kind)] += item.num_draft;
  }
  step_predicted_us_ = step_is_decode_ && cost_.knows(step_tokens_) ? cost_.predict_us(step_tokens_, step_attended_) : 0;
}

void Speculator::stood(Sequence& sequence) {
  Speculation& s = *sequence.speculation;
  ++s.num_stood;
  ++s.num_accepted[size_t(s.kind)];
  ++num_accepted_[size_t(s.kind)];
}

void Speculator::finish_step(const Schedule& schedule, double us) {
  if (step_is_decode_) cost_.observe(step_tokens_, step_attended_, us);
  if (step_predicted_us_ > 0) {
    decode_us_ += us;
    predicted_us_ += step_predicted_us_;
  }
  for (const ScheduledTokens& item : schedule.items)
    if (item.num_draft > 0) check(*item.sequence);
}

void Speculator::check(Sequence& sequence) {
  Speculation& s = *sequence.speculation;
  // A sequence that ended or lost its pages in mid-draft says nothing of the rest.
  const bool rejected = s.num_stood < s.num_checked && sequence.state == SequenceState::running;
  s.acceptance.observe(s.kind, s.trust, s.num_stood, rejected);
  common_.observe(s.kind, s.trust, s.num_stood, rejected);
  if (s.num_stood > 0)
    s.probe_interval = kFirstProbeInterval;
  else if (s.is_probe)
    s.probe_interval = std::min(2 * s.probe_interval, kLastProbeInterval);
}

void Speculator::add_counts(gainz_model_stats& stats) const {
  std::copy(num_drafted_.begin(), num_drafted_.end(), stats.num_drafted);
  std::copy(num_accepted_.begin(), num_accepted_.end(), stats.num_accepted);
  stats.decode_us = uint64_t(decode_us_);
  stats.predicted_us = uint64_t(predicted_us_);
}

}  // namespace gainz
