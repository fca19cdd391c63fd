// How near a plugin's numbers must come to the scalar kernels', by the type of the weights; docs/conform.md explains each
// bound.
#ifndef GAINZ_SDK_CONFORM_COMPARE_H
#define GAINZ_SDK_CONFORM_COMPARE_H

#include "conform/suite.h"

namespace gainz::conform {

// Relative error in the Euclidean norm of a row that one op with such weights may make. 8-bit activations per 32 values give
// about 0.6 %, bf16 ones 0.3 %.
double op_bound(uint32_t weight_type);
// The same for the logits of a toy model of two layers.
double model_bound(uint32_t weight_type);

const char* type_name(uint32_t type);
extern const std::vector<uint32_t> kWeightTypes;  // that LINEAR, EMBED and MOE_LINEAR may meet

// Fails, naming `what` and the row: sizes, not-a-number where the truth has none, an error beyond the bound.
void require_near(const std::vector<std::vector<float>>& rows, const std::vector<std::vector<float>>& truth, double bound,
                  const char* what);
// Fails where a bit differs.
void require_same(const std::vector<std::vector<float>>& rows, const std::vector<std::vector<float>>& truth, const char* what);

}  // namespace gainz::conform

#endif
