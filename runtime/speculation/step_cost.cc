#include "speculation/step_cost.h"

#include <algorithm>

namespace gainz {
namespace {

constexpr double kFirstSlope = 0.15;   // of one more token, as a share of the step, before it has been seen
constexpr double kWeightDecay = 0.99;  // of the moments
constexpr double kLeastShare = 0.01;   // of a step that does not depend on its context, whatever noise says
constexpr double kOutlier = 3;         // times the prediction: counts as held up by something else

}  // namespace

void StepCost::observe(uint32_t num_tokens, double attended, double us) {
  if (num_tokens == 0 || num_tokens > kMaxTokens) return;
  Row& row = rows_[num_tokens];
  const bool held_up = row.num_seen >= kNumKept && us > kOutlier * predict_us(num_tokens, attended);
  row.kept[row.num_seen++ % kNumKept] = {us, attended};
  if (!held_up) update_row(row, attended, us);
  update_table();
}

// Welford's update with falling weights (West 1979).
void StepCost::update_row(Row& row, double attended, double us) {
  row.weight = row.weight * kWeightDecay + 1;
  const double share = 1 / row.weight, old_error = us - row.mean_us;
  const double old_deviation = attended - row.mean_attended;
  row.mean_us += share * old_error;
  row.mean_attended += share * old_deviation;
  row.covariance = kWeightDecay * row.covariance + old_deviation * (us - row.mean_us);
  row.variance = kWeightDecay * row.variance + old_deviation * (attended - row.mean_attended);
}

double StepCost::median(const Row& row) const {
  std::array<double, kNumKept> rest;
  const uint32_t count = std::min(row.num_seen, kNumKept);
  for (uint32_t i = 0; i < count; ++i) rest[i] = row.kept[i].us - slope_ * row.kept[i].attended;
  std::nth_element(rest.begin(), rest.begin() + count / 2, rest.begin() + count);
  return rest[count / 2];
}

void StepCost::update_table() {
  double covariance = 0, variance = 0;
  for (const Row& row : rows_) {
    covariance += row.covariance;
    variance += row.variance;
  }
  slope_ = variance > 0 ? std::max(0.0, covariance / variance) : 0;
  uint32_t last = 0;  // the last T that was seen
  for (uint32_t t = 1; t <= kMaxTokens; ++t) {
    if (rows_[t].num_seen == 0) {
      table_[t] = last == 0 ? 0 : table_[last] * (1 + kFirstSlope * (t - last));
      continue;
    }
    table_[t] = std::max(median(rows_[t]), kLeastShare * rows_[t].mean_us);
    for (uint32_t i = last + 1; i < t; ++i)
      table_[i] = last == 0 ? table_[t] : table_[last] + (table_[t] - table_[last]) * (i - last) / (t - last);
    last = t;
  }
}

double StepCost::predict_us(uint32_t num_tokens, double attended) const {
  const uint32_t t = std::min(num_tokens, kMaxTokens);
  if (t == 0 || table_[t] == 0) return 0;
  const double more = num_tokens > t ? table_[t] / t * (num_tokens - t) : 0;
  return table_[t] + more + slope_ * attended;
}

}  // namespace gainz
