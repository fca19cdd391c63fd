// elementwise.h: ADD, MUL, SCALE and SOFTCAP in f32. Pure functions, any thread. `out` may be an input.
#ifndef GAINZ_SDK_REFERENCE_ELEMENTWISE_H
#define GAINZ_SDK_REFERENCE_ELEMENTWISE_H

#include <cstdint>

namespace gainz::reference {

void add(const float* a, const float* b, float* out, uint64_t n);
void mul(const float* a, const float* b, float* out, uint64_t n);
// a, out [num_rows, cols]; b[cols] meets every row.
void mul_row(const float* a, const float* b, float* out, uint64_t num_rows, uint64_t cols);
void scale(const float* x, float factor, float* out, uint64_t n);
// cap * tanh(x / cap): the quotient in f32, tanh in double, rounded to f32, times cap in f32. Bello et al. 2016, section 5.
float softcap_value(float x, float cap);
void softcap(const float* x, float cap, float* out, uint64_t n);

}  // namespace gainz::reference

#endif
