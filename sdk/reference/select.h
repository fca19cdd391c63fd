// select.h: GATHER_ROWS, LOGIT_MASK and TOP_K. Pure functions, any thread.
#ifndef GAINZ_SDK_REFERENCE_SELECT_H
#define GAINZ_SDK_REFERENCE_SELECT_H

#include <cstdint>

namespace gainz::reference {

// out[num_rows, cols]: row rows[r] of x[T, cols].
void gather_rows(const float* x, const uint32_t* rows, float* out, uint64_t num_rows, uint64_t cols);

// x, out [cols] (may be the same); mask[(cols + 31) / 32]: bit c % 32 of word c / 32 lets column c pass, else it becomes
// -infinity.
void logit_mask(const float* x, const uint32_t* mask, float* out, uint64_t cols);

// x[cols]; values[k], ids[k]: the k largest, best first, ties to the lower id; k <= cols. A NaN counts as below everything,
// equal to another NaN. values may be nullptr.
void top_k(const float* x, uint64_t cols, uint64_t k, float* values, int32_t* ids);

}  // namespace gainz::reference

#endif
