// rope.h: ROPE, rotary position embedding (Su et al. 2021, section 3.4.2). Pure functions, any thread.
//
// Arithmetic: inverse frequencies and angles are f32 values, as in the models' own training code: inverse[i] = 1 / base^(2i /
// rotary_dim), the power taken in double and rounded to f32; divided by factors[i]; scaled; angle = position * inverse[i] in
// f32; cosine and sine taken in double, rounded to f32, times magnitude. YaRN (Peng et al. 2023, section 3.4): inverse = scaled
// * (1 - m) + unscaled * m, m = yarn_mix * (1 - ramp(i)), where ramp rises linearly from 0 to 1 between pair(beta_fast) rounded
// down and pair(beta_slow) rounded up, and pair(b) = rotary_dim * ln(original_context / (2 pi b)) / (2 ln base), held within
// [0, rotary_dim - 1].
#ifndef GAINZ_SDK_REFERENCE_ROPE_H
#define GAINZ_SDK_REFERENCE_ROPE_H

#include <cstdint>

#include "gainz/sdk/ops.h"

namespace gainz::reference {

// inverse[rotary_dim / 2]; factors[rotary_dim / 2] or nullptr. freq_scale 0 reads as 1.
void rope_frequencies(const gainz_rope_attr& attr, const float* factors, float* inverse);

// x, out [num_tokens, num_heads * head_dim] (may be the same), positions[num_tokens], inverse as above; `turns` is room for
// rotary_dim floats. A pair (a, b) becomes (a cos - b sin, b cos + a sin). magnitude 0 reads as 1.
void rope(const float* x, const int32_t* positions, const gainz_rope_attr& attr, const float* inverse, float* out,
          uint64_t num_tokens, float* turns);

}  // namespace gainz::reference

#endif
