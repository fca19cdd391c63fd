// attention.h: ATTENTION of one query head over the pages of its sequence. Pure function, any thread.
//
// Vaswani et al. 2017, equation 1, with grouped heads (Ainslie et al. 2023), a window (Beltagy et al. 2020) and a soft cap
// (Gemma 2).
//   score[p] = dot(q, k[p]) * scale (dot.h), then softcap * tanh(score / softcap) where there is a cap (elementwise.h)
//   weight[p] = e^(score[p] - largest score), in double, rounded to f32; total = sum of the weights in rising p, in f32
//   out = (sum over rising p of weight[p] * v[p]) / total, in f32, each product rounded before it is added
// Positions are visited in rising order whatever page they lie in, so the bits depend on the sequence alone.
#ifndef GAINZ_SDK_REFERENCE_ATTENTION_H
#define GAINZ_SDK_REFERENCE_ATTENTION_H

#include <cstdint>

#include "gainz/sdk/ops.h"
#include "kv.h"

namespace gainz::reference {

// Room that attention_head needs, in floats, for contexts of up to max_context tokens.
uint64_t attention_room(const gainz_attention_attr& attr, uint64_t max_context);

// q[Dk] of query head `head` at `position`; page_row[position / 16 + 1]: the sequence's row of the page table; out[Dv].
void attention_head(const float* q, uint64_t head, uint64_t position, const uint32_t* page_row, const KvLayer& layer,
                    const gainz_attention_attr& attr, float* out, float* room);

}  // namespace gainz::reference

#endif
