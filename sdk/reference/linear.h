// linear.h: LINEAR, rows times a weight matrix transposed, and EMBED. Pure functions, any thread.
//
// Each weight row is dequantized to f32 once (dequantize.h) and meets every activation row by dot (dot.h). Output rows are
// independent of each other, and so are weight rows: a caller may split [0, N) among threads without changing a bit.
#ifndef GAINZ_SDK_REFERENCE_LINEAR_H
#define GAINZ_SDK_REFERENCE_LINEAR_H

#include <cstdint>

namespace gainz::reference {

// x[num_rows, k], w[N, k] of `type` packed, bias[N] or nullptr, out[num_rows, out_stride]: columns [begin, end) become
// dot(x row, w row n) + bias[n]. `row` is room for k floats. k is a whole number of blocks of `type`.
void linear(const float* x, uint32_t type, const void* w, const float* bias, float* out, uint64_t num_rows, uint64_t k,
            uint64_t begin, uint64_t end, uint64_t out_stride, float* row);

// out[num_tokens, dim]: row tokens[t] of w[V, dim] of `type`; each token is in [0, V).
void embed(const int32_t* tokens, uint32_t type, const void* w, float* out, uint64_t num_tokens, uint64_t dim);

}  // namespace gainz::reference

#endif
