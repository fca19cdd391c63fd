// StepCost: how long a step of generated tokens takes, learnt from the steps themselves.
//
//   time(T, A) = w[T] + c * A     T tokens in the step, A the sum of their context lengths (what attention reads)
//
// c is the slope within the steps of one T, pooled over all T (analysis of covariance), so that a context that grows is not
// taken for a step that grows; w[T] is the median of the last kNumKept steps less c * A, so that a step that something else
// held up does not count. Where a T has not been seen, its neighbours say: between two of them a line, above the last one
// kFirstSlope for each token, below the first one its own. Owner: the engine. Threads: the engine's.
#pragma once

#include <array>
#include <cstdint>

namespace gainz {

class StepCost {
 public:
  static constexpr uint32_t kMaxTokens = 64;  // steps with more are not learnt

  void observe(uint32_t num_tokens, double attended, double us);
  double predict_us(uint32_t num_tokens, double attended) const;  // 0: nothing is known yet
  bool knows(uint32_t num_tokens) const { return num_tokens <= kMaxTokens && rows_[num_tokens].num_seen > 0; }

 private:
  static constexpr uint32_t kNumKept = 9;
  struct Kept {
    double us, attended;
  };
  struct Row {
    std::array<Kept, kNumKept> kept{};
    uint32_t num_seen = 0;
    double weight = 0, mean_us = 0, mean_attended = 0, covariance = 0, variance = 0;  // with falling weights
  };
  void update_row(Row& row, double attended, double us);
  void update_table();
  double median(const Row& row) const;

  std::array<Row, kMaxTokens + 1> rows_{};
  std::array<double, kMaxTokens + 1> table_{};  // w[T], all T
  double slope_ = 0;                            // c
};

}  // namespace gainz
