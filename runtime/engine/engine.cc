#include "engine/engine.h"

#include <new>
#include <system_error>

#include "engine/active.h"

namespace gainz {
namespace {

constexpr size_t kFirstPieceBytes = 64;
constexpr const char* kNoMemory = "out of host memory";

}  // namespace

Engine::Engine(std::unique_ptr<Model> model, std::shared_ptr<const Tokenizer> tokenizer, EventSink& sink,
               const EngineOptions& options)
    : options_(options), model_(std::move(model)), tokenizer_(std::move(tokenizer)), sink_(sink) {}

Result<std::unique_ptr<Engine>> Engine::create(const Services& services, std::unique_ptr<Model> model,
                                               std::shared_ptr<const Tokenizer> tokenizer, EventSink& sink,
                                               const EngineOptions& options, std::unique_ptr<DraftModel> draft_model) {
  std::unique_ptr<Engine> engine(new Engine(std::move(model), std::move(tokenizer), sink, options));
  const SchedulerLimits& limits = options.limits;
  const ModelInfo& info = engine->model_->info();
  const uint32_t max_pages = (options.context + kPageTokens - 1) / kPageTokens;
  GAINZ_ASSIGN(PagePool pool, PagePool::create(options.page_groups, options.secret));
  engine->pool_ = std::make_unique<PagePool>(std::move(pool));
  engine->scheduler_ = std::make_unique<Scheduler>(*engine->pool_, limits);
  engine->speculator_ = std::make_unique<Speculator>(limits, *engine->pool_, info.vocab_size, std::move(draft_model));
  GAINZ_ASSIGN(engine->batch_, Batch::create(services, limits, uint32_t(options.page_groups.size()), max_pages, info.vocab_size,
                                             info.embedding_length));
  std::vector<uint32_t> num_pages;
  for (const auto& group : options.page_groups) num_pages.push_back(group.num_pages);
  const gainz_bucket bucket{sizeof(bucket), limits.batch_tokens, limits.max_sequences, limits.max_rows, max_pages, 0};
  GAINZ_TRY(engine->model_->prepare(options.k_type, options.v_type, num_pages, bucket));
  engine->services_ = &services;
  engine->drawn_rows_.reserve(limits.max_rows);
  sink.reserve(limits.max_rows);
  engine->publish_stats();
  return engine;
}

Engine::~Engine() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  in_flight_ = nullptr;
  for (auto& [id, active] : active_) end(*active, GAINZ_CANCELLED, GAINZ_FINISH_CANCELLED, "the model was unloaded");
  for (const Request& request : commands_.submitted)
    refuse(request, GAINZ_CANCELLED, GAINZ_FINISH_CANCELLED, "the model was unloaded");
}

Status Engine::start() {
  try {
    thread_ = std::thread([this] { thread_main(); });
  } catch (const std::system_error& e) {
    return {Code::out_of_host_memory, std::string("cannot start the engine's thread: ") + e.what()};
  }
  return {};
}

Status Engine::submit(Request request) {
  {
    std::lock_guard lock(mutex_);
    commands_.submitted.push_back(std::move(request));
    ++stats_.num_waiting;
  }
  wake_.notify_one();
  return {};
}

void Engine::cancel(gainz_request_id id) {
  {
    std::lock_guard lock(mutex_);
    commands_.cancelled.push_back(id);
  }
  wake_.notify_one();
}

void Engine::thread_main() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || busy_ || !commands_.submitted.empty() || !commands_.cancelled.empty(); });
      if (stopping_) return;
    }
    busy_ = tick(0);
  }
}

bool Engine::tick(uint64_t deadline_us) {
  for (;;) {
    bool more = false;
    try {
      more = step(deadline_us);
    } catch (const std::bad_alloc&) {
      fail_step(GAINZ_OUT_OF_HOST_MEMORY, kNoMemory);
      more = !active_.empty();
    }
    publish_stats();
    if (!more) return false;
    if (deadline_us == 0 || now_us() >= deadline_us) return true;
  }
}

bool Engine::step(uint64_t deadline_us) {
  take_commands();
  if (!in_flight_ && !speculator_->is_drafting()) {
    bury();
    speculator_->plan(*scheduler_);
  }
  if (speculator_->is_drafting() && !advance_drafts(deadline_us)) return true;
  step_begin_us_ = now_fine_us();
  if (!in_flight_) begin_step();
  if (in_flight_ && advance_step(deadline_us)) finish_step();
  if (!in_flight_) bury();
  return !active_.empty();
}

void Engine::take_commands() {
  {
    std::lock_guard lock(mutex_);
    std::swap(commands_, taken_);
  }
  for (Request& request : taken_.submitted) {
    try {
      accept(request);
    } catch (const std::bad_alloc&) {
      refuse(request, GAINZ_OUT_OF_HOST_MEMORY, GAINZ_FINISH_ERROR, kNoMemory);
    }
  }
  for (const gainz_request_id id : taken_.cancelled)
    if (const auto it = active_.find(id); it != active_.end())
      end(*it->second, GAINZ_CANCELLED, GAINZ_FINISH_CANCELLED, "cancelled");
  taken_.submitted.clear();
  taken_.cancelled.clear();
  if (num_deadlines_ == 0) return;
  const uint64_t now = now_us();
  for (auto& [id, active] : active_)
    if (active->request.deadline_us != 0 && now >= active->request.deadline_us)
      end(*active, GAINZ_CANCELLED, GAINZ_FINISH_TIMEOUT, "the request's time is over");
}

void Engine::accept(Request& request) {
  if (lost_) return refuse(request, GAINZ_DEVICE_LOST, GAINZ_FINISH_ERROR, "the device was lost; load the model again");
  auto sampler = Sampler::create(request.sampling, int32_t(model_->info().vocab_size), tokenizer_->end_ids());
  if (!sampler.ok())
    return refuse(request, gainz_code(sampler.status().code()), GAINZ_FINISH_ERROR, sampler.status().message().c_str());
  auto stops = StopMatcher::create(request.stops);
  if (!stops.ok())
    return refuse(request, gainz_code(stops.status().code()), GAINZ_FINISH_ERROR, stops.status().message().c_str());

  const uint32_t num_prompt = uint32_t(request.prompt.size());
  const uint32_t room = options_.context - num_prompt;
  const uint32_t num_new = request.kind != GAINZ_REQUEST_GENERATE ? 0
                           : request.max_tokens < 0               ? room
                                                                  : std::min(room, uint32_t(request.max_tokens));
  const gainz_request_id id = request.id;
  ended_.reserve(active_.size() + 1);
  scheduler_->reserve(active_.size() + 1);
  std::vector<int32_t> tokens;
  tokens.reserve(num_prompt + num_new);
  tokens.assign(request.prompt.begin(), request.prompt.end());
  auto active = std::make_unique<Active>(std::move(request), std::move(*sampler), std::move(*stops), tokenizer_);
  Request& r = active->request;
  active->num_prompt = num_prompt;
  active->tokens = std::move(tokens);
  active->piece.reserve(kFirstPieceBytes);
  active->phases.reserve(num_prompt + num_new);
  active->phases.assign(num_prompt, GAINZ_PHASE_PROMPT);
  active->blocks.reserve((num_prompt + num_new) / kPageTokens + 1);
  active->arrival = ++num_accepted_;
  active->priority = r.priority;
  active->use_cache = r.use_cache && options_.prefix_cache;
  active->root = pool_->root(r.salt);
  active->sampler.observe_prompt(r.prompt);
  active->sampler.reserve_output(num_new);
  active->sample_last = num_new > 0;
  if (r.prompt_logprobs >= 0) active->all_rows_until = num_prompt - 1;
  if (r.kind == GAINZ_REQUEST_EMBED) {
    active->pooled.assign(model_->info().embedding_length, 0.0);
    if (r.pooling == GAINZ_POOLING_MEAN)
      active->all_rows_until = num_prompt;
    else
      active->rows = {num_prompt - 1};
  } else if (r.kind == GAINZ_REQUEST_LOGITS) {
    active->rows = r.positions;
    active->one_by_one_from = num_prompt - r.num_generated_ids;
    std::fill(active->phases.begin() + active->one_by_one_from, active->phases.end(), uint8_t(GAINZ_PHASE_GENERATED));
  }
  if (num_new > 0) active->speculating = speculator_->admit(*active, r, num_prompt + num_new, tokenizer_->end_ids());
  active->speculation = active->speculating.get();
  active->draft.reserve(active->speculating ? kMaxDraftTokens : 0);
  active->drawn.resize(active->speculating ? kMaxDraftTokens + 1 : 1);
  for (SampledToken& token : active->drawn) token.top.reserve(size_t(std::max(0, r.sampling.logprobs)));
  Active& added = *active_.emplace(id, std::move(active)).first->second;
  num_deadlines_ += added.request.deadline_us != 0;
  if (r.kind == GAINZ_REQUEST_GENERATE && num_new == 0 && r.prompt_logprobs < 0)
    return end(added, GAINZ_OK, GAINZ_FINISH_LENGTH, "");
  scheduler_->add(&added);
}

// Lets the draft model write; true when all drafts are there (or there will be none).
bool Engine::advance_drafts(uint64_t deadline_us) {
  for (;;) {
    const Result<bool> done = speculator_->advance();
    if (!done.ok()) services_->log(LogLevel::warning, "the draft model is not used any more: " + done.status().message());
    if (!done.ok() || *done) return true;
    take_commands();
    if (deadline_us != 0 && now_us() >= deadline_us) return false;
  }
}

void Engine::begin_step() {
  step_us_ = 0;
  const Schedule& schedule = scheduler_->schedule();
  if (schedule.items.empty()) {
    // Only what can never run is left at the head: it asks for more pages than there are.
    if (Sequence* first = scheduler_->first())
      end(static_cast<Active&>(*first), GAINZ_OUT_OF_DEVICE_MEMORY, GAINZ_FINISH_ERROR,
          "the request needs more KV pages than there are");
    return;
  }
  in_flight_ = &schedule;
  speculator_->begin_step(schedule);
  bool want_logits = false, want_hidden = false;
  const uint64_t now = now_us();
  for (const auto& item : schedule.items) {
    Active& active = static_cast<Active&>(*item.sequence);
    (active.request.kind == GAINZ_REQUEST_EMBED ? want_hidden : want_logits) = true;
    if (!active.announced) announce(active, now);
  }
  Status status = copy_pages(schedule);
  if (status.ok()) status = model_->begin(batch_.lay_out(schedule, *pool_, want_logits, want_hidden));
  if (!status.ok()) fail_step(gainz_code(status.code()), status.message().c_str());
}

void Engine::announce(Active& active, uint64_t now) {
  active.announced = true;
  active.started_us = now;
  PendingEvent event(sink_);
  event->view.kind = GAINZ_EVENT_STARTED;
  event->view.num_prompt_tokens = active.num_prompt;
  event->view.num_cached_tokens = active.num_cached;
  counts_.num_cached_tokens += active.num_cached;
  push(active, event);
}

// One call for each, in order: a page that one copy has read may be the target of the next.
Status Engine::copy_pages(const Schedule& schedule) {
  for (const PageCopy& copy : schedule.copies) {
    const gainz_page_copy pages{copy.source, copy.target};
    GAINZ_TRY(model_->copy_pages(copy.group, {&pages, 1}));
  }
  return {};
}

// Runs slices; true when the step is complete.
bool Engine::advance_step(uint64_t deadline_us) {
  for (;;) {
    const Result<bool> done = model_->advance();
    if (!done.ok()) {
      fail_step(gainz_code(done.status().code()), done.status().message().c_str());
      return false;
    }
    if (*done) return true;
    take_commands();
    bool wanted = false;
    for (const auto& item : in_flight_->items) wanted |= !static_cast<Active*>(item.sequence)->ended;
    if (!wanted) in_flight_ = nullptr;  // nobody is left who would look: the step is dropped
    if (wanted && (deadline_us == 0 || now_us() < deadline_us)) continue;
    step_us_ += now_fine_us() - step_begin_us_;
    return false;
  }
}

void Engine::finish_step() {
  const Schedule& schedule = *in_flight_;
  ++counts_.num_steps;
  for (const auto& item : schedule.items) {
    Active& active = static_cast<Active&>(*item.sequence);
    if (active.ended) continue;
    for (uint32_t i = 0; i < item.num_tokens; ++i) counts_.num_prompt_tokens += active.num_computed + i < active.num_prompt;
    scheduler_->computed(item);
  }
  draw_rows();
  for (size_t row = 0; row < batch_.rows().size(); ++row) read_row(row);
  speculator_->finish_step(schedule, step_us_ + now_fine_us() - step_begin_us_);
  for (const auto& item : schedule.items) {
    Active& active = static_cast<Active&>(*item.sequence);
    if (!active.ended && item.num_draft > 0) {
      scheduler_->settle(active);
      active.sampler.truncate(active.num_generated);  // it may have drawn beyond what was kept
    }
    if (!active.ended && active.num_remaining() == 0) end(active, GAINZ_OK, GAINZ_FINISH_STOP, "");
  }
  in_flight_ = nullptr;
}

void Engine::end(Active& active, gainz_code code, uint32_t reason, const char* error) {
  if (active.ended) return;
  active.ended = true;
  scheduler_->remove(&active);
  num_deadlines_ -= active.request.deadline_us != 0;
  (code == GAINZ_OK ? counts_.num_finished : code == GAINZ_CANCELLED ? counts_.num_cancelled : counts_.num_failed) += 1;
  gainz_event done{};
  done.request = active.request.id;
  done.user = active.request.user;
  done.code = code;
  done.finish_reason = reason;
  done.num_prompt_tokens = active.num_prompt;
  done.num_cached_tokens = active.num_cached;
  done.num_generated_tokens = active.num_generated;
  done.num_preemptions = active.num_preemptions;
  done.seed = active.request.sampling.seed;
  if (const Speculation* speculation = active.speculating.get()) {
    std::copy(speculation->num_drafted.begin(), speculation->num_drafted.end(), done.num_drafted);
    std::copy(speculation->num_accepted.begin(), speculation->num_accepted.end(), done.num_accepted);
  }
  const uint64_t now = now_us(), started = active.started_us ? active.started_us : now;
  done.queue_us = started - active.request.submitted_us;
  done.prefill_us = (active.first_token_us ? active.first_token_us : now) - started;
  done.decode_us = active.first_token_us ? active.last_token_us - active.first_token_us : 0;
  std::string tail;
  try {
    if (!active.stops.matched()) {
      active.stops.push(active.decoder.finish(), tail);
      if (!active.stops.matched()) tail += active.stops.finish();
    }
  } catch (const std::bad_alloc&) {
    done.code = GAINZ_OUT_OF_HOST_MEMORY;
    done.finish_reason = GAINZ_FINISH_ERROR;
    error = kNoMemory;
  }
  publish_stats();  // whoever sees the last event sees its pages given back
  sink_.finish(done, tail, error);
  ended_.push_back(&active);
}

// The last event of a request that never became active.
void Engine::refuse(const Request& request, gainz_code code, uint32_t reason, const char* error) {
  gainz_event done{};
  done.request = request.id;
  done.user = request.user;
  done.code = code;
  done.finish_reason = reason;
  done.num_prompt_tokens = uint32_t(request.prompt.size());
  done.seed = request.sampling.seed;
  ++counts_.num_failed;
  sink_.finish(done, {}, error);
}

// The step in flight went wrong: its requests end, all others go on. A lost device ends them all. Allocates nothing.
void Engine::fail_step(gainz_code code, const char* error) {
  if (in_flight_)
    for (const auto& item : in_flight_->items) end(static_cast<Active&>(*item.sequence), code, GAINZ_FINISH_ERROR, error);
  in_flight_ = nullptr;
  pool_->clear_cache();  // what the broken step wrote is not to be trusted
  if (code == GAINZ_DEVICE_LOST) {
    lost_ = true;
    for (auto& [id, active] : active_) end(*active, code, GAINZ_FINISH_ERROR, error);
  }
}

void Engine::bury() {
  for (Active* active : ended_) {
    if (active->speculating) speculator_->remove(*active->speculating);
    active_.erase(active->request.id);
  }
  ended_.clear();
}

void Engine::push(Active& active, PendingEvent& event) {
  event->view.request = active.request.id;
  event->view.user = active.request.user;
  sink_.push(event.take());
}

void Engine::publish_stats() {
  counts_.struct_size = sizeof(counts_);
  counts_.num_running = scheduler_->num_running();
  counts_.num_waiting = scheduler_->num_waiting();
  counts_.pages_total = pool_->num_blocks();
  counts_.pages_used = pool_->num_used();
  counts_.pages_cached = pool_->num_cached();
  counts_.num_preemptions = scheduler_->num_preemptions();
  speculator_->add_counts(counts_);
  std::lock_guard lock(mutex_);
  stats_ = counts_;
  stats_.num_waiting += uint32_t(commands_.submitted.size());
}

gainz_model_stats Engine::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace gainz
