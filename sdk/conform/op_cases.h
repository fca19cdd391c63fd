// The graphs of one op that the ops tests ask for, and the numbers that go into them.
#ifndef GAINZ_SDK_CONFORM_OP_CASES_H
#define GAINZ_SDK_CONFORM_OP_CASES_H

#include "conform/op_runner.h"

namespace gainz::conform {

struct OpCase {
  std::string what;  // for messages: "k 33, n 7, 5 rows"
  std::function<void(GraphBuilder&)> build;
  OpStep step;
  double bound = 1e-5;
  // The bound is for all rows together: a single product may nearly cancel out, and its rounding does not.
  bool is_product = false;
};

// kinds of numbers: everyday ones, zeros, huge and tiny, equal ones
enum class Numbers { usual, zeros, large, small, equal };
std::vector<float> numbers(Numbers kind, size_t count, std::mt19937_64& random);
std::vector<float> ids(size_t count, uint32_t below, std::mt19937_64& random);  // i32 as bits

// Every case of an op; of a weight type where the op has weights that may be quantized.
std::vector<OpCase> cases_of(uint32_t op, uint32_t weight_type, std::mt19937_64& random);

}  // namespace gainz::conform

#endif
