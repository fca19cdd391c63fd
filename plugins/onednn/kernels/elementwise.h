// Row kernels over F: norms, activations, rope, quantisation, softmax. Needs F; local to the file. A tail is computed on the
// same vectors as a whole one, padded with zeros, so that an element's bits do not depend on where it stands.
#pragma once

#include "kernels/kernels.h"

namespace gainz::onednn {
namespace {

// Calls op(offset, lanes) for each vector of a row.
template <class Op>
inline void over(uint64_t n, Op op) {
  uint64_t i = 0;
  for (; i + W <= n; i += W) op(i, uint64_t{W});
  if (i < n) op(i, n - i);
}
inline F get(const float* p, uint64_t lanes) { return lanes == W ? load(p) : load_n(p, lanes); }
inline void put(float* p, F x, uint64_t lanes) {
  if (lanes == W) return store(p, x);
  store_n(p, x, lanes);
}

// e^x to 1.1 ulp in the normal range: 2^n times a polynomial of degree 7 in the rest (Taylor; |rest| <= ln 2 / 2). 0 below
// -87.3, infinity above 88.7; NaN stays.
inline F exp_of(F x) {
  const F clamped = min(set1(89.0f), max(set1(-88.0f), x));
  const F n = round(mul(clamped, set1(1.44269504088896341f)));
  const F r = fnma(n, set1(-2.12194440e-4f), fnma(n, set1(0.693359375f), clamped));
  F p = set1(1.0f / 5040);
  p = fma(p, r, set1(1.0f / 720));
  p = fma(p, r, set1(1.0f / 120));
  p = fma(p, r, set1(1.0f / 24));
  p = fma(p, r, set1(1.0f / 6));
  p = fma(p, r, set1(0.5f));
  p = fma(p, r, set1(1.0f));
  p = fma(p, r, set1(1.0f));
  F y = times_2n(p, n);
  y = select_lt(x, set1(-87.3f), set1(0), y);
  y = select_lt(set1(88.72283f), x, set1(__builtin_inff()), y);
  return select_lt(abs(x), set1(__builtin_inff()), y, select_lt(x, set1(0), set1(0), add(x, x)));  // not finite
}

// tanh: odd polynomial (continued fraction's series to y^11) near zero, 1 - 2 / (e^2y + 1) elsewhere.
inline F tanh_of(F y) {
  const F z = mul(y, y);
  F p = set1(-1382.0f / 155925);
  p = fma(p, z, set1(62.0f / 2835));
  p = fma(p, z, set1(-17.0f / 315));
  p = fma(p, z, set1(2.0f / 15));
  p = fma(p, z, set1(-1.0f / 3));
  const F small = fma(mul(p, z), y, y);
  const F large = sub(set1(1), div(set1(2), add(exp_of(add(y, y)), set1(1))));
  return select_lt(abs(y), set1(0.3f), small, large);
}

inline F silu_of(F x) { return div(x, add(set1(1), exp_of(sub(set1(0), x)))); }
// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks and Gimpel 2016.
inline F gelu_tanh_of(F x) {
  const F inner = mul(mul(set1(0.79788456080286536f), x), fma(mul(set1(0.044715f), x), x, set1(1)));
  return mul(mul(set1(0.5f), x), add(set1(1), tanh_of(inner)));
}

void quantize(const float* x, uint64_t num_columns, ActBlock* out) {
  for (uint64_t b = 0; b < num_columns / kBlock; ++b, x += kBlock, ++out) {
    const uint32_t bits = max_abs_bits32(x);
    float amax;
    __builtin_memcpy(&amax, &bits, sizeof amax);
    int32_t lo = 0, hi = 0;
    float d = amax / 127.0f;
    if (bits >= 0x7f800000u) d = __builtin_nanf("");  // not finite: so shall be the result
    if (amax < 1e-35f) {                              // 127 / amax would overflow
      d = 0;
      __builtin_memset(out->q, 0, kBlock);
    } else {
      round_to_i8(x, bits >= 0x7f800000u ? 0.0f : 127.0f / amax, out->q, &lo, &hi);
    }
    out->d = d;
    out->ds = d * static_cast<float>(lo + hi);
    out->n8 = -8 * (lo + hi);
    out->n128 = -128 * (lo + hi);
    out->n128_lo = -128 * lo;
    out->n128_hi = -128 * hi;
    out->ds_lo = d * static_cast<float>(lo);
    out->ds_hi = d * static_cast<float>(hi);
  }
}

void rmsnorm(const float* x, const float* w, uint64_t n, float epsilon, float* y) {
  F sum = set1(0);
  over(n, [&](uint64_t i, uint64_t lanes) {
    const F v = get(x + i, lanes);
    sum = fma(v, v, sum);
  });
  const F factor = set1(1.0f / __builtin_sqrtf(hsum(sum) / static_cast<float>(n) + epsilon));
  over(n, [&](uint64_t i, uint64_t lanes) {
    const F v = mul(get(x + i, lanes), factor);
    put(y + i, w ? mul(v, get(w + i, lanes)) : v, lanes);
  });
}

void layernorm(const float* x, const float* w, const float* b, uint64_t n, float epsilon, float* y) {
  F sum = set1(0);
  over(n, [&](uint64_t i, uint64_t lanes) { sum = add(sum, get(x + i, lanes)); });
  const F mean = set1(hsum(sum) / static_cast<float>(n));
  F squares = set1(0);
  over(n, [&](uint64_t i, uint64_t lanes) {
    const F v = keep_lanes(sub(get(x + i, lanes), mean), 0, 0, static_cast<int32_t>(lanes), set1(0));
    squares = fma(v, v, squares);
  });
  const F factor = set1(1.0f / __builtin_sqrtf(hsum(squares) / static_cast<float>(n) + epsilon));
  over(n, [&](uint64_t i, uint64_t lanes) {
    F v = mul(sub(get(x + i, lanes), mean), factor);
    if (w) v = mul(v, get(w + i, lanes));
    put(y + i, b ? add(v, get(b + i, lanes)) : v, lanes);
  });
}

void add_rows(const float* a, const float* b, uint64_t n, float* y) {
  over(n, [&](uint64_t i, uint64_t lanes) { put(y + i, add(get(a + i, lanes), get(b + i, lanes)), lanes); });
}
void mul_rows(const float* a, const float* b, uint64_t n, float* y) {
  over(n, [&](uint64_t i, uint64_t lanes) { put(y + i, mul(get(a + i, lanes), get(b + i, lanes)), lanes); });
}
void scale_row(const float* x, float factor, uint64_t n, float* y) {
  over(n, [&](uint64_t i, uint64_t lanes) { put(y + i, mul(get(x + i, lanes), set1(factor)), lanes); });
}
void axpy(const float* x, float factor, uint64_t n, float* y) {
  over(n, [&](uint64_t i, uint64_t lanes) { put(y + i, fma(get(x + i, lanes), set1(factor), get(y + i, lanes)), lanes); });
}
void softcap(const float* x, float cap, uint64_t n, float* y) {
  over(n, [&](uint64_t i, uint64_t lanes) { put(y + i, mul(set1(cap), tanh_of(div(get(x + i, lanes), set1(cap)))), lanes); });
}

void activation(uint32_t kind, const float* x, uint64_t n, float* y) {
  if (kind == 1) return over(n, [&](uint64_t i, uint64_t lanes) { put(y + i, silu_of(get(x + i, lanes)), lanes); });
  if (kind == 2) return over(n, [&](uint64_t i, uint64_t lanes) { put(y + i, gelu_tanh_of(get(x + i, lanes)), lanes); });
  over(n, [&](uint64_t i, uint64_t lanes) {
    const F v = get(x + i, lanes), r = select_lt(v, set1(0), set1(0), v);
    put(y + i, kind == 5 ? mul(r, r) : r, lanes);
  });
}

void rope_halves(const float* x, const float* cosine, const float* sine, uint32_t half, float* y) {
  over(half, [&](uint64_t i, uint64_t lanes) {
    const F a = get(x + i, lanes), b = get(x + half + i, lanes), c = get(cosine + i, lanes), s = get(sine + i, lanes);
    put(y + i, fnma(b, s, mul(a, c)), lanes);
    put(y + half + i, fma(a, s, mul(b, c)), lanes);
  });
}
void rope_pairs(const float* x, const float* cosine, const float* sine, uint32_t half, float* y) {
  for (uint32_t i = 0; i < half; i += W) {
    const uint32_t lanes = half - i < W ? half - i : W;
    float part[2 * W] = {};
    const float* from = x + 2 * i;
    if (lanes < W) from = static_cast<float*>(__builtin_memcpy(part, from, 8 * lanes));
    F a, b;
    load_pairs(from, &a, &b);
    const F c = get(cosine + i, lanes), s = get(sine + i, lanes);
    store_pairs(lanes < W ? part : y + 2 * i, fnma(b, s, mul(a, c)), fma(a, s, mul(b, c)));
    if (lanes < W) __builtin_memcpy(y + 2 * i, part, 8 * lanes);
  }
}

void to_f16(const float* x, uint64_t n, uint16_t* y) {
  uint64_t i = 0;
  for (; i + W <= n; i += W) store_f16(y + i, load(x + i));
  uint16_t rest[W];
  if (i == n) return;
  store_f16(rest, load_n(x + i, n - i));
  __builtin_memcpy(y + i, rest, (n - i) * 2);
}

float max_of(const float* x, uint64_t n) {
  F m = set1(-__builtin_inff());
  over(n, [&](uint64_t i, uint64_t lanes) {
    m = max(m, keep_lanes(get(x + i, lanes), 0, 0, static_cast<int32_t>(lanes), set1(-__builtin_inff())));
  });
  return hmax(m);
}

void softmax(const float* x, uint64_t n, float* y) {
  const F top = set1(max_of(x, n));
  F sum = set1(0);
  over(n, [&](uint64_t i, uint64_t lanes) {
    const F e = keep_lanes(exp_of(sub(get(x + i, lanes), top)), 0, 0, static_cast<int32_t>(lanes), set1(0));
    sum = add(sum, e);
    put(y + i, e, lanes);
  });
  scale_row(y, 1.0f / hsum(sum), n, y);
}

}  // namespace
}  // namespace gainz::onednn
