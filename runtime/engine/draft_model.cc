#include "engine/draft_model.h"

#include "engine/clock.h"

namespace gainz {
namespace {

constexpr uint32_t kFewestPromptTokens = 16;  // of a pass that tells what a token of a prompt costs
constexpr double kPromptShare = 0.2;          // of the newest pass in the running mean

}  // namespace

Result<std::unique_ptr<DraftModel>> DraftModel::create(const Services& services, std::unique_ptr<Model> model,
                                                       const EngineOptions& options) {
  std::unique_ptr<DraftModel> draft(new DraftModel(options));
  draft->model_ = std::move(model);
  const ModelInfo& info = draft->model_->info();
  const SchedulerLimits& limits = options.limits;
  const uint32_t max_pages = (options.context + kPageTokens - 1) / kPageTokens;
  GAINZ_ASSIGN(PagePool pool, PagePool::create(options.page_groups, options.secret));
  draft->pool_ = std::make_unique<PagePool>(std::move(pool));
  draft->scheduler_ = std::make_unique<Scheduler>(*draft->pool_, limits);
  GAINZ_ASSIGN(draft->batch_, Batch::create(services, limits, uint32_t(options.page_groups.size()), max_pages, info.vocab_size,
                                            info.embedding_length));
  std::vector<uint32_t> num_pages;
  for (const auto& group : options.page_groups) num_pages.push_back(group.num_pages);
  const gainz_bucket bucket{sizeof(bucket), limits.batch_tokens, limits.max_sequences, limits.max_rows, max_pages, 0};
  GAINZ_TRY(draft->model_->prepare(options.k_type, options.v_type, num_pages, bucket));
  draft->round_.reserve(limits.max_sequences);
  return draft;
}

Result<std::unique_ptr<DraftGuest>> DraftModel::admit(const Sequence& target, uint32_t num_prompt, uint32_t end,
                                                      const SamplingParams& sampling, const std::vector<int32_t>& end_ids) {
  SamplingParams params = sampling;
  params.logprobs = -1;
  GAINZ_ASSIGN(Sampler sampler, Sampler::create(params, int32_t(model_->info().vocab_size), end_ids));
  auto guest = std::make_unique<DraftGuest>(std::move(sampler));
  scheduler_->reserve(num_guests_ + 1);
  guest->tokens.reserve(end);
  guest->phases.reserve(end);
  guest->draft.reserve(kMaxDraftTokens);
  guest->blocks.reserve(end / kPageTokens + 2);
  guest->num_prompt = num_prompt;
  guest->arrival = target.arrival;
  guest->priority = target.priority;
  guest->use_cache = target.use_cache;
  guest->root = target.root;  // of another pool with another secret; any number that only equal salts share will do
  guest->sample_last = true;
  guest->paused = true;
  guest->tokens.assign(target.tokens.begin(), target.tokens.begin() + num_prompt);
  guest->phases.assign(target.phases.begin(), target.phases.begin() + num_prompt);
  guest->sampler.observe_prompt(guest->tokens);
  guest->sampler.reserve_output(end - num_prompt);
  scheduler_->add(guest.get());
  ++num_guests_;
  return guest;
}

void DraftModel::remove(DraftGuest* guest) {
  scheduler_->remove(guest);
  std::erase(round_, guest);
  --num_guests_;
}

void DraftModel::begin() {
  for (DraftGuest* guest : round_) guest->paused = true;
  round_.clear();
  num_passes_ = 0;
}

// What stands is what both hold; the rest of the guest's pages is given back.
void DraftModel::join(DraftGuest& guest, const Sequence& target, uint32_t num_wanted) {
  uint32_t num_right = 0;
  while (num_right < guest.draft.size() && guest.num_tokens() + num_right < target.num_tokens() &&
         guest.draft[num_right] == target.tokens[guest.num_tokens() + num_right])
    ++num_right;
  guest.num_computed = std::min(guest.num_computed, guest.num_tokens() + num_right);
  guest.sampler.truncate(guest.num_tokens() - guest.num_prompt);
  for (uint32_t i = guest.num_tokens(); i < target.num_tokens(); ++i) {
    guest.tokens.push_back(target.tokens[i]);
    guest.phases.push_back(target.phases[i]);
    guest.sampler.observe_output(target.tokens[i]);
  }
  // The last token's row is needed even where it has been computed: the target went on without a draft.
  guest.num_computed = std::min(guest.num_computed, guest.num_tokens() - 1);
  guest.rows_from = guest.num_computed;
  scheduler_->settle(guest);
  guest.num_wanted = num_wanted;
  guest.paused = false;
  round_.push_back(&guest);
}

bool DraftModel::begin_pass(Status& out_status) {
  bool wanted = false;
  for (DraftGuest* guest : round_) {
    // After the first pass only those go on that have caught up, which shows in a token for every pass.
    guest->paused = guest->draft.size() >= guest->num_wanted || guest->draft.size() != num_passes_;
    wanted |= !guest->paused;
  }
  if (!wanted) return false;
  const Schedule& schedule = scheduler_->schedule();
  if (schedule.items.empty()) return false;  // no pages
  for (const PageCopy& copy : schedule.copies) {
    const gainz_page_copy pages{copy.source, copy.target};
    out_status = model_->copy_pages(copy.group, {&pages, 1});
    if (!out_status.ok()) return true;
  }
  pass_begin_us_ = now_fine_us();
  out_status = model_->begin(batch_.lay_out(schedule, *pool_, true, false));
  in_flight_ = &schedule;
  return true;
}

Result<bool> DraftModel::advance() {
  if (!in_flight_) {
    Status status;
    if (!begin_pass(status)) return true;
    if (!status.ok()) return status;
  }
  GAINZ_ASSIGN(const bool done, model_->advance());
  if (!done) return false;
  GAINZ_TRY(finish_pass());
  return false;
}

Status DraftModel::finish_pass() {
  const Schedule& schedule = *std::exchange(in_flight_, nullptr);
  for (const auto& item : schedule.items) scheduler_->computed(item);
  for (size_t row = 0; row < batch_.rows().size(); ++row) {
    DraftGuest& guest = static_cast<DraftGuest&>(*schedule.items[batch_.rows()[row].item].sequence);
    GAINZ_TRY(guest.sampler.sample_into(batch_.logits(row), guest.num_known(), {}, guest.sampled));
    guest.sampler.observe_output(guest.sampled.id);
    guest.draft.push_back(guest.sampled.id);
  }
  const double us = now_fine_us() - pass_begin_us_;
  if (num_passes_++ > 0)
    cost_.observe(uint32_t(schedule.items.size()), 0, us);
  else if (schedule.num_tokens >= kFewestPromptTokens)
    prompt_token_us_ += (us / schedule.num_tokens - prompt_token_us_) * (prompt_token_us_ == 0 ? 1 : kPromptShare);
  return {};
}

void DraftModel::abandon() {
  in_flight_ = nullptr;
  for (DraftGuest* guest : round_) {
    guest->paused = true;
    guest->draft.clear();
  }
  round_.clear();
}

}  // namespace gainz
