// activation.h: ACTIVATION and GATED_ACTIVATION over n values in f32. Pure functions, any thread. `out` may be an input.
//
// exp, tanh and erf are taken in double of the f32 value and the result of the whole formula is rounded to f32 once, so that it
// does not depend on which libm computes it.
//   SILU x / (1 + e^-x)                                                          Elfwing et al. 2017
//   GELU_TANH 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))                  Hendrycks and Gimpel 2016, section 2
//   GELU_ERF 0.5 x (1 + erf(x / sqrt 2))                                         the same
//   RELU max(x, 0)    RELU2 max(x, 0)^2 in f32                                   So et al. 2021 (Primer)
#ifndef GAINZ_SDK_REFERENCE_ACTIVATION_H
#define GAINZ_SDK_REFERENCE_ACTIVATION_H

#include <cstdint>

namespace gainz::reference {

// `kind` is a GAINZ_ACTIVATION_*.
float activation_value(uint32_t kind, float x);
void activation(uint32_t kind, const float* x, float* out, uint64_t n);
// out = activation(gate) * up, the activation rounded to f32 first. Shazeer 2020 (GLU variants).
void gated_activation(uint32_t kind, const float* gate, const float* up, float* out, uint64_t n);

}  // namespace gainz::reference

#endif
