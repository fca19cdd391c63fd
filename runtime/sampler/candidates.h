// Candidates: the tokens that are left of a row while filters narrow it, and the filters. Nothing here sorts a whole
// vocabulary. Owner and scratch: the Sampler's vector, whose capacity is reserved beforehand (candidate_capacity). Threads: as
// the vector.
//
// Filters see weights: exp((logit - best logit) / temperature), so the row's best has weight 1, and sums of equal weights are
// exact. A sum or share within kSlack of its bound counts as having reached it: logits and parameters are floats, and an exact
// hit
// ("0.5 + 0.3 reaches 0.8") must not hang on their last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sampler/noise.h"
#include "sampler/row_scan.h"
#include "sampler/sampling_params.h"

namespace gainz {

struct Candidate {
  float logit;
  int32_t id;
  double weight;
};

inline constexpr double kSlack = 0x1p-20;

// Best first: higher logit, then lower id.
inline bool better(const Candidate& a, const Candidate& b) { return a.logit > b.logit || (a.logit == b.logit && a.id < b.id); }

// Whether any filter is on.
bool has_filter(const SamplingParams& params);
// Elements that filter_row (num_best for collect_best: its k) may hold at once; a vector with that capacity never grows.
size_t candidate_capacity(const SamplingParams& params, size_t num_vocab);
size_t best_capacity(size_t num_best, size_t num_vocab);

// The k best logits above -inf, in no order, weights unset.
void collect_best(std::span<const float> logits, size_t k, std::vector<Candidate>& out_candidates);

// What is left after temperature (above 0), top-k, typical, top-p and min-p; in no order, never empty. row_best: of these
// logits, above -inf.
void filter_row(const SamplingParams& params, std::span<const float> logits, const RowBest& row_best,
                std::vector<Candidate>& out_candidates);

// The id with the largest (logit - best) / temperature + noise, the lowest on ties: of all ids, or of the candidates.
int32_t pick_of_row(std::span<const float> logits, const RowBest& row_best, float temperature, const GumbelRow& noise);
int32_t pick_of_candidates(std::span<const Candidate> candidates, const RowBest& row_best, float temperature,
                           const GumbelRow& noise);

}  // namespace gainz
