// Attention of a few query rows of one KV head over one chunk of positions. Needs F and elementwise.h; local to the file.
//
//   s[r][p] = softcap(scale * sum_d q[r][d] K[p][d]), minus infinity where p is not visible;  m = max s;  e = exp(s - m)
//   l = sum e;  o[r][d] = sum_p e[r][p] V[p][d], p rising
//
// Chunks are folded in rising order (Rabe and Staats 2021), so that a row's bits depend on its context alone: neither on the
// rows that share the call nor on whether chunks ran at once. All pages of the chunk are read once for all rows.
#pragma once

#include "kernels/elementwise.h"

namespace gainz::onednn {
namespace {

// Vectors of positions (or of value columns) done together: enough independent sums to hide the latency of the multiply-add.
template <int NR>
inline constexpr int kTogether = NR <= 2   ? 4
                                 : NR <= 4 ? 2
                                           : 1;

template <uint32_t Kt>
inline F k_vector(const uint8_t* page, uint32_t d, uint32_t token) {
  if constexpr (Kt == kKvF32) return load(reinterpret_cast<const float*>(page) + 16 * d + token);
  if constexpr (Kt == kKvF16) return load_f16(reinterpret_cast<const uint16_t*>(page) + 16 * d + token);
  return load_i8(reinterpret_cast<const int8_t*>(page) + d / 32 * 544 + 32 + 16 * (d % 32) + token);
}

template <uint32_t Kt, int NR>
void scores(const AttentionArgs& a, float* s) {
  constexpr int G = kTogether<NR>;
  const uint32_t last_page = (a.end - 1) / kPageTokens;
  for (uint32_t p0 = a.begin; p0 < a.end; p0 += G * W) {
    const uint8_t* page[G];
    uint32_t token[G];
    for (int g = 0; g < G; ++g) {
      const uint32_t at = p0 + static_cast<uint32_t>(g) * W, column = at / kPageTokens;
      page[g] = a.k + a.page_table[column < last_page ? column : last_page] * a.k_page_bytes;
      token[g] = at % kPageTokens;
    }
    F acc[NR][G];
    GAINZ_UNROLL for (int r = 0; r < NR; ++r) GAINZ_UNROLL for (int g = 0; g < G; ++g) acc[r][g] = set1(0);
    const uint32_t step = Kt == kKvQ8 ? 32 : a.dk;
    for (uint32_t d0 = 0; d0 < a.dk; d0 += step) {
      F part[NR][G];
      GAINZ_UNROLL for (int r = 0; r < NR; ++r) GAINZ_UNROLL for (int g = 0; g < G; ++g) part[r][g] = set1(0);
      for (uint32_t d = d0; d < d0 + step; ++d) {
        GAINZ_UNROLL for (int g = 0; g < G; ++g) {
          const F k = k_vector<Kt>(page[g], d, token[g]);
          GAINZ_UNROLL for (int r = 0; r < NR; ++r) part[r][g] = fma(set1(a.q[r][d]), k, part[r][g]);
        }
      }
      GAINZ_UNROLL for (int g = 0; g < G; ++g) {
        if constexpr (Kt == kKvQ8) {
          const F scale = load_f16(reinterpret_cast<const uint16_t*>(page[g] + d0 / 32 * 544) + token[g]);
          GAINZ_UNROLL for (int r = 0; r < NR; ++r) acc[r][g] = fma(part[r][g], scale, acc[r][g]);
        } else {
          GAINZ_UNROLL for (int r = 0; r < NR; ++r) acc[r][g] = part[r][g];
        }
      }
    }
    GAINZ_UNROLL for (int r = 0; r < NR; ++r)
        GAINZ_UNROLL for (int g = 0; g < G; ++g) if (p0 - a.begin + static_cast<uint32_t>(g) * W < kAttentionChunk)
            store(s + r * kAttentionChunk + (p0 - a.begin) + static_cast<uint32_t>(g) * W, acc[r][g]);
  }
}

template <uint32_t Vt>
inline F v_vector(const AttentionArgs& a, const uint8_t* page, uint32_t token, uint32_t d, uint64_t lanes) {
  const uint64_t at = static_cast<uint64_t>(token) * a.dv + d;
  if constexpr (Vt == kKvF32) return get(reinterpret_cast<const float*>(page) + at, lanes);
  if constexpr (Vt == kKvF16) {
    const uint16_t* from = reinterpret_cast<const uint16_t*>(page) + at;
    if (lanes == W) return load_f16(from);
    uint16_t part[W] = {};
    __builtin_memcpy(part, from, 2 * lanes);
    return load_f16(part);
  }
  // Whole blocks of 32 only, so that W lanes are always there; the scale is one for all lanes.
  const uint16_t* scale = reinterpret_cast<const uint16_t*>(page + 16ull * a.dv) + token * (a.dv / 32) + d / 32;
  uint16_t many[W];
  for (uint32_t i = 0; i < W; ++i) many[i] = *scale;
  return mul(load_i8(reinterpret_cast<const int8_t*>(page) + at), load_f16(many));
}

template <uint32_t Vt, int NR, int G>
inline void weighted_columns(const AttentionArgs& a, const float* s, uint32_t first, uint32_t last, uint32_t d,
                             uint64_t lanes) {
  F acc[NR][G];
  GAINZ_UNROLL for (int r = 0; r < NR; ++r) GAINZ_UNROLL for (int g = 0; g < G; ++g) acc[r][g] = set1(0);
  for (uint32_t p = first; p < last;) {
    const uint8_t* page = a.v + a.page_table[p / kPageTokens] * a.v_page_bytes;
    const uint32_t page_end = (p / kPageTokens + 1) * kPageTokens, end = last < page_end ? last : page_end;
    for (; p < end; ++p) {
      F v[G];
      GAINZ_UNROLL for (int g = 0; g < G; ++g) v[g] =
          v_vector<Vt>(a, page, p % kPageTokens, d + static_cast<uint32_t>(g) * W, lanes);
      GAINZ_UNROLL for (int r = 0; r < NR; ++r) {
        const F weight = set1(s[r * kAttentionChunk + (p - a.begin)]);
        GAINZ_UNROLL for (int g = 0; g < G; ++g) acc[r][g] = fma(weight, v[g], acc[r][g]);
      }
    }
  }
  GAINZ_UNROLL for (int r = 0; r < NR; ++r) GAINZ_UNROLL for (int g = 0; g < G; ++g)
      put(a.o[r] + d + static_cast<uint32_t>(g) * W, acc[r][g], lanes);
}

template <uint32_t Vt, int NR>
void weighted_sum(const AttentionArgs& a, const float* s, uint32_t first, uint32_t last) {
  constexpr uint32_t G = kTogether<NR>;
  uint32_t d = 0;
  for (; d + G * W <= a.dv; d += G * W) weighted_columns<Vt, NR, static_cast<int>(G)>(a, s, first, last, d, W);
  for (; d < a.dv; d += W) weighted_columns<Vt, NR, 1>(a, s, first, last, d, a.dv - d < W ? a.dv - d : W);
}

// Scores to weights in place; positions of the chunk that the row does not see get 0.
inline void weights_of_row(AttentionArgs* a, uint32_t r, float* s) {
  const uint32_t n = (a->end - a->begin + W - 1) / W * W;
  const int32_t first = static_cast<int32_t>(a->first[r]) - static_cast<int32_t>(a->begin);
  const int32_t last = static_cast<int32_t>(a->last[r]) - static_cast<int32_t>(a->begin);
  const F hidden = set1(-__builtin_inff());
  F top = set1(-1e30f);
  for (uint32_t i = 0; i < n; i += W) {
    F x = mul(load(s + i), set1(a->scale));
    if (a->softcap != 0) x = mul(set1(a->softcap), tanh_of(div(x, set1(a->softcap))));
    x = keep_lanes(x, static_cast<int32_t>(i), first, last, hidden);
    store(s + i, x);
    top = max(top, x);
  }
  a->m[r] = hmax(top);
  const F m = set1(a->m[r]);
  F sum = set1(0);
  for (uint32_t i = 0; i < n; i += W) {
    const F e = exp_of(sub(load(s + i), m));
    store(s + i, e);
    sum = add(sum, e);
  }
  a->l[r] = hsum(sum);
}

// Asks for all pages of the chunk at once, into the L2 cache: they lie where they were free, so that the processor cannot guess
// them, and the scores of a page take less time than its way from memory.
inline void fetch_pages(const AttentionArgs& a) {
  constexpr uint32_t kBytes[kNumKvTypes] = {4, 2, 1};  // of an element; the scales of Q8_0 come with the rest
  for (uint32_t p = a.begin; p < a.end; p += kPageTokens) {
    const uint8_t* k = a.k + a.page_table[p / kPageTokens] * a.k_page_bytes;
    const uint8_t* v = a.v + a.page_table[p / kPageTokens] * a.v_page_bytes;
    for (uint32_t i = 0; i < kPageTokens * a.dk * kBytes[a.k_type]; i += 64) __builtin_prefetch(k + i, 0, 2);
    for (uint32_t i = 0; i < kPageTokens * a.dv * kBytes[a.v_type]; i += 64) __builtin_prefetch(v + i, 0, 2);
  }
}

using ScoresFn = void (*)(const AttentionArgs&, float*);
using SumFn = void (*)(const AttentionArgs&, const float*, uint32_t, uint32_t);
#define GAINZ_ROWS(fn, type) \
  { fn<type, 1>, fn<type, 2>, fn<type, 3>, fn<type, 4>, fn<type, 5>, fn<type, 6>, fn<type, 7>, fn<type, 8> }

void attend(AttentionArgs* a) {
  static constexpr ScoresFn kScores[kNumKvTypes][kAttentionRows] = {GAINZ_ROWS(scores, kKvF32), GAINZ_ROWS(scores, kKvF16),
                                                                    GAINZ_ROWS(scores, kKvQ8)};
  static constexpr SumFn kSums[kNumKvTypes][kAttentionRows] = {
      GAINZ_ROWS(weighted_sum, kKvF32), GAINZ_ROWS(weighted_sum, kKvF16), GAINZ_ROWS(weighted_sum, kKvQ8)};
  alignas(64) float s[kAttentionRows * kAttentionChunk];
  fetch_pages(*a);
  kScores[a->k_type][a->num_rows - 1](*a, s);
  uint32_t first = a->end, last = a->begin;
  for (uint32_t r = 0; r < a->num_rows; ++r) {
    weights_of_row(a, r, s + r * kAttentionChunk);
    const uint32_t row_first = a->first[r] > a->begin ? a->first[r] : a->begin,
                   row_last = a->last[r] < a->end ? a->last[r] : a->end;
    if (row_first >= row_last) continue;
    first = row_first < first ? row_first : first;
    last = row_last > last ? row_last : last;
  }
  kSums[a->v_type][a->num_rows - 1](*a, s, first, last);
}

void attention_fold(float* o, float* m, float* l, const float* o2, float m2, float l2, uint32_t dv) {
  const float top = *m > m2 ? *m : m2;
  alignas(64) float pair[W] = {*m - top, m2 - top};
  store(pair, exp_of(load(pair)));
  const F a = set1(pair[0]), b = set1(pair[1]);
  over(dv, [&](uint64_t i, uint64_t lanes) { put(o + i, fma(get(o2 + i, lanes), b, mul(get(o + i, lanes), a)), lanes); });
  *l = *l * pair[0] + l2 * pair[1];
  *m = top;
}

}  // namespace
}  // namespace gainz::onednn
