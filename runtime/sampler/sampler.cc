#include "sampler/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace gainz {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();
constexpr size_t kFirstOutputTokens = 1024;  // room for output ids taken in create

// Adjusted logits and log-probabilities stay finite where the model's logit is, whatever bias and penalty say.
float to_finite(double logit) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(logit, -kLargest, kLargest));
}

}  // namespace

Result<Sampler> Sampler::create(const SamplingParams& params, int32_t vocab_size, std::vector<int32_t> end_ids) {
  GAINZ_TRY(params.validate(vocab_size));
  for (const int32_t id : end_ids) {
    if (id < 0 || id >= vocab_size) {
      return Status(Code::invalid,
                    "end token id " + std::to_string(id) + " is not from 0 to " + std::to_string(vocab_size - 1));
    }
  }
  return Sampler(params, vocab_size, std::move(end_ids));
}

Sampler::Sampler(const SamplingParams& params, int32_t vocab_size, std::vector<int32_t> end_ids)
    : params_(params),
      vocab_size_(vocab_size),
      end_ids_(std::move(end_ids)),
      has_repetition_(params.repetition_penalty != 1),
      has_output_penalty_(params.presence_penalty != 0 || params.frequency_penalty != 0) {
  const size_t num_vocab = static_cast<size_t>(vocab_size);
  adjusted_.resize(num_vocab);
  candidates_.reserve(candidate_capacity(params, num_vocab));
  if (params.logprobs > 0) best_.reserve(best_capacity(static_cast<size_t>(params.logprobs), num_vocab));
  if (has_repetition_ || has_output_penalty_) {
    seen_of_.resize(num_vocab);
    seen_.reserve(num_vocab);
    output_.reserve(kFirstOutputTokens);
  }
}

// The entry of an id, listed from now on; null where nothing is kept or the id has no logit.
Sampler::Seen* Sampler::find_seen(int32_t id) {
  if (id < 0 || static_cast<size_t>(id) >= seen_of_.size()) return nullptr;
  Seen& seen = seen_of_[static_cast<size_t>(id)];
  if (!seen.listed) {
    seen.listed = true;
    seen_.push_back(id);
  }
  return &seen;
}

void Sampler::observe_prompt(std::span<const int32_t> ids) {
  if (!has_repetition_) return;  // the other penalties count output alone
  for (const int32_t id : ids) {
    if (Seen* seen = find_seen(id)) seen->in_prompt = true;
  }
}

void Sampler::observe_output(int32_t id) {
  ++num_output_;
  if (seen_of_.empty()) return;
  output_.push_back(id);
  if (Seen* seen = find_seen(id)) ++seen->num_output;
}

void Sampler::truncate(size_t num_output) {
  while (output_.size() > num_output) {
    if (Seen* seen = find_seen(output_.back())) --seen->num_output;
    output_.pop_back();
  }
  num_output_ = std::min(num_output_, num_output);
}

void Sampler::reserve_output(size_t num_output) {
  if (!seen_of_.empty()) output_.reserve(num_output);
}

// Repetition: Keskar et al. 2019, "CTRL", in the form that divides positive logits and multiplies the others. Presence and
// frequency: the OpenAI API's definition, logit - count * frequency - [count > 0] * presence.
void Sampler::apply_penalties() {
  const double repetition = params_.repetition_penalty;
  for (const int32_t id : seen_) {
    const Seen& seen = seen_of_[static_cast<size_t>(id)];
    float& logit = adjusted_[static_cast<size_t>(id)];
    if ((seen.num_output == 0 && !seen.in_prompt) || logit == kMasked) continue;
    double value = logit;
    if (has_repetition_) value = value > 0 ? value / repetition : value * repetition;
    if (seen.num_output > 0) {
      value -= static_cast<double>(seen.num_output) * static_cast<double>(params_.frequency_penalty);
      value -= static_cast<double>(params_.presence_penalty);
    }
    logit = to_finite(value);
  }
}

void Sampler::apply_masks(std::span<const uint32_t> allowed) {
  const bool too_early = num_output_ < static_cast<size_t>(params_.min_tokens);
  if (too_early || params_.ignore_eos) {
    for (const int32_t id : end_ids_) adjusted_[static_cast<size_t>(id)] = kMasked;
  }
  if (too_early) {
    for (const int32_t id : params_.stop_token_ids) adjusted_[static_cast<size_t>(id)] = kMasked;
  }
  for (size_t word = 0; word < allowed.size(); ++word) {
    if (allowed[word] == 0xffffffff) continue;
    const size_t end = std::min(adjusted_.size(), word * 32 + 32);
    for (size_t id = word * 32; id < end; ++id) {
      if ((allowed[word] >> (id % 32) & 1) == 0) adjusted_[id] = kMasked;
    }
  }
}

Result<Sampler::Row> Sampler::adjust(std::span<const float> logits, std::span<const uint32_t> allowed) {
  const size_t num_vocab = static_cast<size_t>(vocab_size_);
  if (logits.size() != num_vocab) {
    return Status(Code::invalid,
                  "a row of " + std::to_string(logits.size()) + " logits for a vocabulary of " + std::to_string(num_vocab));
  }
  if (!allowed.empty() && allowed.size() != (num_vocab + 31) / 32) {
    return Status(Code::invalid, "a mask of " + std::to_string(allowed.size()) + " words for a vocabulary of " +
                                     std::to_string(num_vocab) + ", which needs " + std::to_string((num_vocab + 31) / 32));
  }
  GAINZ_ASSIGN(const RowBest raw_best, scan_row(logits));
  Row row{logits, raw_best};
  const bool masks_end = params_.ignore_eos || num_output_ < static_cast<size_t>(params_.min_tokens);
  if (!params_.logit_bias.empty() || !seen_.empty() || masks_end || !allowed.empty()) {
    std::copy(logits.begin(), logits.end(), adjusted_.begin());
    for (const auto& [id, bias] : params_.logit_bias) {
      float& logit = adjusted_[static_cast<size_t>(id)];
      if (logit != kMasked) logit = to_finite(static_cast<double>(logit) + static_cast<double>(bias));
    }
    apply_penalties();
    apply_masks(allowed);
    GAINZ_ASSIGN(const RowBest best, scan_row(adjusted_));
    row = Row{adjusted_, best};
  }
  if (row.best.logit == kMasked) return Status(Code::invalid, "no token can be drawn: every one of the vocabulary is masked");
  return row;
}

void Sampler::fill_logprobs(std::span<const float> logits, float best, SampledToken& out_token) {
  double total = 0;
  for (const float logit : logits) {
    const double x = static_cast<double>(logit) - static_cast<double>(best);
    if (x > -64) total += portable_exp(x);  // the others are below the last place of the sum
  }
  const double log_total = portable_log(total);
  const auto logprob_of = [best, log_total](float logit) {
    return to_finite((static_cast<double>(logit) - static_cast<double>(best)) - log_total);
  };
  out_token.logprob = logprob_of(logits[static_cast<size_t>(out_token.id)]);
  if (params_.logprobs == 0) return;
  collect_best(logits, static_cast<size_t>(params_.logprobs), best_);
  std::sort(best_.begin(), best_.end(), better);
  for (const Candidate& candidate : best_) out_token.top.push_back({candidate.id, logprob_of(candidate.logit)});
}

Status Sampler::sample_into(std::span<const float> logits, uint64_t position, std::span<const uint32_t> allowed,
                            SampledToken& out_token) {
  out_token.id = -1;
  out_token.logprob = 0;
  out_token.top.clear();
  GAINZ_ASSIGN(const Row row, adjust(logits, allowed));
  const GumbelRow noise(params_.seed, position);
  if (params_.temperature == 0) {
    out_token.id = row.best.id;
  } else if (has_filter(params_)) {
    filter_row(params_, row.logits, row.best, candidates_);
    out_token.id = pick_of_candidates(candidates_, row.best, params_.temperature, noise);
  } else {
    out_token.id = pick_of_row(row.logits, row.best, params_.temperature, noise);
  }
  if (params_.logprobs >= 0) {
    float best = row.best.logit;
    if (row.logits.data() != logits.data()) best = *std::max_element(logits.begin(), logits.end());
    fill_logprobs(logits, best, out_token);
  }
  return {};
}

Result<SampledToken> Sampler::sample(std::span<const float> logits, uint64_t position, std::span<const uint32_t> allowed) {
  SampledToken token;
  GAINZ_TRY(sample_into(logits, position, allowed, token));
  return token;
}

Result<std::vector<std::pair<int32_t, double>>> Sampler::probabilities(std::span<const float> logits,
                                                                       std::span<const uint32_t> allowed) {
  GAINZ_ASSIGN(const Row row, adjust(logits, allowed));
  std::vector<std::pair<int32_t, double>> out;
  if (params_.temperature == 0) {
    out.emplace_back(row.best.id, 1.0);
    return out;
  }
  std::vector<Candidate> candidates;
  filter_row(params_, row.logits, row.best, candidates);
  std::sort(candidates.begin(), candidates.end(), better);
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  for (const Candidate& candidate : candidates) {
    if (candidate.weight > 0) out.emplace_back(candidate.id, candidate.weight / total);
  }
  return out;
}

}  // namespace gainz
