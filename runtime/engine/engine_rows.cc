// What becomes of a step's output rows: a token, a log-probability of the prompt, a row of logits, a pooled hidden state.
//
// Before: the Device returned logits and hidden rows. After: Events to the submitter.
#include <cmath>

#include "engine/active.h"

namespace gainz {
namespace {

// log(sum(exp(x))) in double.
double log_sum_exp(std::span<const float> x) {
  float largest = -INFINITY;
  for (float v : x) largest = std::max(largest, v);
  double sum = 0;
  for (float v : x) sum += std::exp(double(v) - largest);
  return largest + std::log(sum);
}

// The n best of a row as log-probabilities, best first, the lower id first among equals.
void best_of_row(std::span<const float> logits, double lse, uint32_t n, std::vector<TokenLogprob>& out) {
  out.clear();
  const auto better = [](const TokenLogprob& a, const TokenLogprob& b) {
    return a.logprob != b.logprob ? a.logprob > b.logprob : a.id < b.id;
  };
  for (size_t id = 0; id < logits.size() && n > 0; ++id) {
    const TokenLogprob candidate{int32_t(id), float(logits[id] - lse)};
    if (out.size() == n && !better(candidate, out.back())) continue;
    if (out.size() == n) out.pop_back();
    out.insert(std::upper_bound(out.begin(), out.end(), candidate, better), candidate);
  }
}

}  // namespace

// Draws the tokens of the sequences, several at once: each depends on its own rows and sampler alone. What fails here is done
// again by read_generated, which knows what to say.
void Engine::draw_rows() {
  drawn_rows_.clear();
  for (size_t row = 0; row < batch_.rows().size(); ++row) {
    const BatchRow& where = batch_.rows()[row];
    Active& active = static_cast<Active&>(*in_flight_->items[where.item].sequence);
    if (active.ended || active.request.kind != GAINZ_REQUEST_GENERATE || !active.sample_last) continue;
    if (where.token_index + 1 == active.num_tokens()) drawn_rows_.push_back(row);
  }
  const auto body = [](void* self, uint64_t begin, uint64_t end, uint32_t) {
    Engine& engine = *static_cast<Engine*>(self);
    for (uint64_t i = begin; i < end; ++i) engine.draw(engine.drawn_rows_[i]);
  };
  if (drawn_rows_.size() > 1)
    services_->parallel_for(drawn_rows_.size(), 1, body, this);
  else
    body(this, 0, drawn_rows_.size(), 0);
}

// From `row` on: the next token, and as long as it is the one that was drafted, the one behind it. Touches that sequence alone.
void Engine::draw(size_t row) {
  const ScheduledTokens& item = in_flight_->items[batch_.rows()[row].item];
  Active& active = static_cast<Active&>(*item.sequence);
  active.num_drawn = active.num_read = 0;
  try {
    for (uint32_t i = 0;; ++i) {
      if (!active.sampler.sample_into(batch_.logits(row + i), active.num_tokens() + i, {}, active.drawn[i]).ok()) return;
      active.sampler.observe_output(active.drawn[i].id);
      ++active.num_drawn;
      if (i == item.num_draft || active.drawn[i].id != active.draft[i]) return;
    }
  } catch (const std::bad_alloc&) {
  }
}

void Engine::read_row(size_t row) {
  const BatchRow& where = batch_.rows()[row];
  Active& active = static_cast<Active&>(*in_flight_->items[where.item].sequence);
  if (active.ended) return;
  const Request& request = active.request;
  try {
    if (request.kind == GAINZ_REQUEST_EMBED) return read_hidden(active, row, where.token_index);
    if (request.kind == GAINZ_REQUEST_LOGITS) return read_logits(active, row, where.token_index);
    if (request.prompt_logprobs >= 0 && where.token_index + 1 < active.num_prompt)
      read_prompt_logprob(active, row, where.token_index);
    // Behind a drafted token that did not stand, the rows mean nothing.
    if (active.sample_last && where.token_index + 1 == active.num_tokens() && where.token_index < active.num_computed)
      read_generated(active, row);
  } catch (const std::bad_alloc&) {
    end(active, GAINZ_OUT_OF_HOST_MEMORY, GAINZ_FINISH_ERROR, "out of host memory");
  }
}

void Engine::read_generated(Active& active, size_t row) {
  PendingEvent event(sink_);
  const uint32_t index = active.num_read++;
  if (index < active.num_drawn) {
    event->sampled = active.drawn[index];  // copied: each keeps its room
  } else {
    const Status status = active.sampler.sample_into(batch_.logits(row), active.num_tokens(), {}, event->sampled);
    if (!status.ok()) return end(active, gainz_code(status.code()), GAINZ_FINISH_ERROR, status.message().c_str());
    active.sampler.observe_output(event->sampled.id);
  }
  const int32_t id = event->sampled.id;
  active.last_token_us = now_us();
  if (active.num_generated++ == 0) active.first_token_us = active.last_token_us;
  ++counts_.num_generated_tokens;
  active.tokens.push_back(id);
  active.phases.push_back(GAINZ_PHASE_GENERATED);
  if (index < in_flight_->items[batch_.rows()[row].item].num_draft && active.draft[index] == id) {
    scheduler_->accept(active);
    speculator_->stood(active);
  }

  const Request& request = active.request;
  const auto& stop_ids = request.sampling.stop_token_ids;
  const bool stop_id = (!request.sampling.ignore_eos && tokenizer_->is_end_of_generation(id)) ||
                       std::find(stop_ids.begin(), stop_ids.end(), id) != stop_ids.end();
  bool stop_text = false;
  if (!stop_id) {
    active.piece.clear();
    active.decoder.push(id, active.piece);
    stop_text = active.stops.push(active.piece, event->text);
  }
  event->view.kind = GAINZ_EVENT_TOKEN;
  event->view.id = id;
  event->view.position = active.num_tokens() - 1;
  event->view.logprob = event->sampled.logprob;
  push(active, event);

  if (stop_id || stop_text) return end(active, GAINZ_OK, GAINZ_FINISH_STOP, "");
  const bool full = active.num_tokens() >= options_.context;
  if (full || (request.max_tokens >= 0 && active.num_generated >= uint32_t(request.max_tokens)))
    return end(active, GAINZ_OK, GAINZ_FINISH_LENGTH, "");
  if (request.preempt_after != 0 && active.num_generated == request.preempt_after && active.num_preemptions == 0)
    scheduler_->preempt(&active);
}

void Engine::read_prompt_logprob(Active& active, size_t row, uint32_t token_index) {
  const auto logits = batch_.logits(row);
  const double lse = log_sum_exp(logits);
  PendingEvent event(sink_);
  event->view.kind = GAINZ_EVENT_PROMPT_LOGPROB;
  event->view.position = token_index + 1;
  event->view.id = active.tokens[token_index + 1];
  event->view.logprob = float(logits[size_t(event->view.id)] - lse);
  best_of_row(logits, lse, uint32_t(active.request.prompt_logprobs), event->sampled.top);
  push(active, event);
}

void Engine::read_logits(Active& active, size_t row, uint32_t token_index) {
  const auto logits = batch_.logits(row);
  PendingEvent event(sink_);
  event->view.kind = GAINZ_EVENT_LOGITS;
  event->view.position = token_index;
  event->values.assign(logits.begin(), logits.end());
  push(active, event);
}

void Engine::read_hidden(Active& active, size_t row, uint32_t token_index) {
  const auto hidden = batch_.hidden(row);
  for (size_t i = 0; i < hidden.size(); ++i) active.pooled[i] += hidden[i];
  if (token_index + 1 < active.num_prompt) return;
  const double count = active.request.pooling == GAINZ_POOLING_MEAN ? active.num_prompt : 1;
  PendingEvent event(sink_);
  event->view.kind = GAINZ_EVENT_EMBEDDING;
  event->values.resize(hidden.size());
  for (size_t i = 0; i < hidden.size(); ++i) event->values[i] = float(active.pooled[i] / count);
  push(active, event);
}

}  // namespace gainz
