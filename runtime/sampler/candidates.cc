#include "sampler/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gainz {
namespace {

// Weights below e^-64 of the best one's are less than a unit in the last place of any sum over a vocabulary, and are left out
// of it.
constexpr double kNegligible = -64;
constexpr double kNegligibleWeight = 1.7e-28;

double scaled(float logit, float best, float temperature) {
  return (static_cast<double>(logit) - static_cast<double>(best)) / static_cast<double>(temperature);
}

double total_weight(std::span<const Candidate> candidates) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  return total;
}

// Every logit whose weight is at least floor; returns the total weight of the row. floor 0 takes all above -inf.
double collect_above(std::span<const float> logits, float best, float temperature, double floor, std::vector<Candidate>& out) {
  out.clear();
  double total = 0;
  const double negligible = static_cast<double>(best) + kNegligible * static_cast<double>(temperature);
  for (size_t i = 0; i < logits.size(); ++i) {
    const float logit = logits[i];
    if (logit < negligible && (floor > kNegligibleWeight || logit == -std::numeric_limits<float>::infinity())) continue;
    const double weight = portable_exp(scaled(logit, best, temperature));
    total += weight;
    if (weight >= floor) out.push_back({logit, static_cast<int32_t>(i), weight});
  }
  return total;
}

// Length of the shortest prefix, in the order of less, whose weights reach target. Reorders so that this prefix comes first.
// Expected linear: each round splits at the median and drops one half.
template <class Less>
size_t prefix_of_weight(std::span<Candidate> candidates, double target, Less less) {
  size_t begin = 0, end = candidates.size();
  double before = 0;  // weight of [0, begin)
  while (end - begin > 32) {
    const size_t middle = begin + (end - begin) / 2;
    std::nth_element(candidates.begin() + begin, candidates.begin() + middle, candidates.begin() + end, less);
    const double half = total_weight(candidates.subspan(begin, middle - begin));
    if (before + half >= target) {
      end = middle;
    } else {
      before += half;
      begin = middle;
    }
  }
  std::sort(candidates.begin() + begin, candidates.begin() + end, less);
  for (size_t i = begin; i < end; ++i) {
    before += candidates[i].weight;
    if (before >= target) return i + 1;
  }
  return end;
}

// Locally typical sampling (Meister, Pimentel, Wiher, Cotterell 2022): by |-log p - H| ascending. With x = (logit - best) / T
// and p = e^x / Z, entropy H = log Z - mean of x under p, so the distance is |x - mean x|; in logits, |logit - centre| / T.
void keep_typical(float best, float temperature, float typical_p, std::vector<Candidate>& candidates) {
  const double total = total_weight(candidates);
  double sum = 0;
  for (const Candidate& candidate : candidates) {
    if (candidate.weight > 0) sum += candidate.weight * scaled(candidate.logit, best, temperature);
  }
  const double centre = static_cast<double>(best) + sum / total * static_cast<double>(temperature);
  const auto more_typical = [centre](const Candidate& a, const Candidate& b) {
    const double a_distance = std::abs(static_cast<double>(a.logit) - centre);
    const double b_distance = std::abs(static_cast<double>(b.logit) - centre);
    return a_distance < b_distance || (a_distance == b_distance && better(a, b));
  };
  candidates.resize(
      prefix_of_weight(std::span(candidates), static_cast<double>(typical_p) * total * (1 - kSlack), more_typical));
}

// total: weight of the num_tokens tokens of the distribution, of which candidates may lack some that cannot be kept.
void keep_top_p(float top_p, double total, size_t num_tokens, std::vector<Candidate>& candidates) {
  // Those lighter than an equal share of what may be dropped are never needed, and are dropped before anything is ordered.
  const double floor = (1 - static_cast<double>(top_p)) * total / static_cast<double>(num_tokens) * 0.999;
  std::erase_if(candidates, [floor](const Candidate& candidate) { return candidate.weight < floor; });
  candidates.resize(prefix_of_weight(std::span(candidates), static_cast<double>(top_p) * total * (1 - kSlack), better));
}

void keep_min_p(float min_p, std::vector<Candidate>& candidates) {
  double highest = 0;
  for (const Candidate& candidate : candidates) highest = std::max(highest, candidate.weight);
  const double floor = static_cast<double>(min_p) * highest * (1 - kSlack);
  std::erase_if(candidates, [floor](const Candidate& candidate) { return candidate.weight < floor; });
}

}  // namespace

bool has_filter(const SamplingParams& params) {
  return params.top_k > 0 || params.top_p < 1 || params.min_p > 0 || params.typical_p < 1;
}

size_t best_capacity(size_t num_best, size_t num_vocab) { return std::min(num_vocab, 2 * num_best + 64); }

size_t candidate_capacity(const SamplingParams& params, size_t num_vocab) {
  if (params.temperature == 0 || !has_filter(params)) return 0;
  return params.top_k > 0 ? best_capacity(static_cast<size_t>(params.top_k), num_vocab) : num_vocab;
}

void collect_best(std::span<const float> logits, size_t k, std::vector<Candidate>& out_candidates) {
  out_candidates.clear();
  k = std::min(k, logits.size());
  if (k == 0) return;
  const size_t capacity = best_capacity(k, logits.size());
  float threshold = -std::numeric_limits<float>::infinity();
  const auto shrink = [&] {
    std::nth_element(out_candidates.begin(), out_candidates.begin() + static_cast<std::ptrdiff_t>(k - 1), out_candidates.end(),
                     better);
    out_candidates.resize(k);
    threshold = out_candidates[k - 1].logit;
  };
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > threshold)) continue;  // an equal one has a higher id and loses
    out_candidates.push_back({logits[i], static_cast<int32_t>(i), 0});
    if (out_candidates.size() == capacity && capacity > k) shrink();
  }
  if (out_candidates.size() > k) shrink();
}

void filter_row(const SamplingParams& params, std::span<const float> logits, const RowBest& row_best,
                std::vector<Candidate>& out_candidates) {
  const float temperature = params.temperature, best = row_best.logit;
  double total = 0;
  size_t num_tokens = logits.size();
  if (params.top_k > 0) {
    collect_best(logits, static_cast<size_t>(params.top_k), out_candidates);
    for (Candidate& candidate : out_candidates) candidate.weight = portable_exp(scaled(candidate.logit, best, temperature));
    total = total_weight(out_candidates);
    num_tokens = out_candidates.size();
  } else {
    double floor = 0;
    if (params.typical_p == 1) {
      // The row's best has weight 1: whatever is below min_p goes, and so does what top-p cannot need (see keep_top_p).
      floor = static_cast<double>(params.min_p) * (1 - kSlack);
      if (params.top_p < 1) {
        floor = std::max(floor, (1 - static_cast<double>(params.top_p)) / static_cast<double>(logits.size()) * 0.999);
      }
    }
    total = collect_above(logits, best, temperature, floor, out_candidates);
  }
  if (params.typical_p < 1) {
    keep_typical(best, temperature, params.typical_p, out_candidates);
    total = total_weight(out_candidates);
    num_tokens = out_candidates.size();
  }
  if (params.top_p < 1) keep_top_p(params.top_p, total, num_tokens, out_candidates);
  if (params.min_p > 0) keep_min_p(params.min_p, out_candidates);
}

int32_t pick_of_row(std::span<const float> logits, const RowBest& row_best, float temperature, const GumbelRow& noise) {
  int32_t best_id = row_best.id;
  double best_score = noise.noise_of(best_id);
  for (size_t i = 0; i < logits.size(); ++i) {
    const int32_t id = static_cast<int32_t>(i);
    const double x = scaled(logits[i], row_best.logit, temperature);
    if (!(x + GumbelRow::kMaxNoise >= best_score)) continue;
    const uint64_t word = noise.word(id);
    if (x + GumbelRow::noise_bound(word) < best_score) continue;
    const double score = x + GumbelRow::noise(word);
    if (score > best_score || (score == best_score && id < best_id)) {
      best_score = score;
      best_id = id;
    }
  }
  return best_id;
}

int32_t pick_of_candidates(std::span<const Candidate> candidates, const RowBest& row_best, float temperature,
                           const GumbelRow& noise) {
  int32_t best_id = -1;
  double best_score = -std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    const double x = scaled(candidate.logit, row_best.logit, temperature);
    const uint64_t word = noise.word(candidate.id);
    if (best_id >= 0 && x + GumbelRow::noise_bound(word) < best_score) continue;
    const double score = x + GumbelRow::noise(word);
    if (best_id < 0 || score > best_score || (score == best_score && candidate.id < best_id)) {
      best_score = score;
      best_id = candidate.id;
    }
  }
  return best_id;
}

}  // namespace gainz
