// F: 16 floats in a zmm register. Included by files compiled for AVX-512 only; everything is local to the including file.
#pragma once

#include <immintrin.h>
#include <stdint.h>

namespace gainz::onednn {
namespace {

using F = __m512;
constexpr uint32_t W = 16;

inline __mmask16 mask_of(uint64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
inline F set1(float x) { return _mm512_set1_ps(x); }
inline F load(const float* p) { return _mm512_loadu_ps(p); }
inline F load_n(const float* p, uint64_t n) { return _mm512_maskz_loadu_ps(mask_of(n), p); }
inline void store(float* p, F x) { _mm512_storeu_ps(p, x); }
inline void store_n(float* p, F x, uint64_t n) { _mm512_mask_storeu_ps(p, mask_of(n), x); }
inline F add(F a, F b) { return _mm512_add_ps(a, b); }
inline F sub(F a, F b) { return _mm512_sub_ps(a, b); }
inline F mul(F a, F b) { return _mm512_mul_ps(a, b); }
inline F div(F a, F b) { return _mm512_div_ps(a, b); }
inline F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
inline F fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }
inline F max(F a, F b) { return _mm512_max_ps(a, b); }  // b where either is NaN
inline F min(F a, F b) { return _mm512_min_ps(a, b); }
inline F abs(F a) { return _mm512_abs_ps(a); }
inline F round(F a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline F select_lt(F a, F b, F x, F y) { return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x); }
inline F times_2n(F x, F n) { return _mm512_scalef_ps(x, n); }
inline float hsum(F x) { return _mm512_reduce_add_ps(x); }
inline float hmax(F x) { return _mm512_reduce_max_ps(x); }
inline F load_f16(const uint16_t* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
inline void store_f16(uint16_t* p, F x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline F load_bf16(const uint16_t* p) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16));
}
inline F load_i8(const int8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
inline F load_u8(const uint8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
// x where first <= lane + base < last, else fill.
inline F keep_lanes(F x, int32_t base, int32_t first, int32_t last, F fill) {
  const __m512i lane =
      _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_epi32(base));
  const __mmask16 keep =
      _mm512_cmpge_epi32_mask(lane, _mm512_set1_epi32(first)) & _mm512_cmplt_epi32_mask(lane, _mm512_set1_epi32(last));
  return _mm512_mask_blend_ps(keep, fill, x);
}
// The largest |x| by bits, so that a NaN wins.
inline uint32_t max_abs_bits(F a, F b) {
  const __m512i m = _mm512_set1_epi32(0x7fffffff);
  return _mm512_reduce_max_epu32(
      _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(a), m), _mm512_and_si512(_mm512_castps_si512(b), m)));
}
inline uint32_t max_abs_bits32(const float* x) { return max_abs_bits(load(x), load(x + 16)); }
// q[i] = x[i] * factor to nearest, within +-127; the sum of each half of 16.
inline void round_to_i8(const float* x, float factor, int8_t* q, int32_t* lo, int32_t* hi) {
  const __m512i bound = _mm512_set1_epi32(127), low_bound = _mm512_set1_epi32(-127);
  const __m512i a = _mm512_max_epi32(_mm512_min_epi32(_mm512_cvtps_epi32(mul(load(x), set1(factor))), bound), low_bound);
  const __m512i b = _mm512_max_epi32(_mm512_min_epi32(_mm512_cvtps_epi32(mul(load(x + 16), set1(factor))), bound), low_bound);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(q), _mm512_cvtepi32_epi8(a));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(q + 16), _mm512_cvtepi32_epi8(b));
  *lo = _mm512_reduce_add_epi32(a);
  *hi = _mm512_reduce_add_epi32(b);
}
// The even and the odd floats of 2 W consecutive ones, and back.
inline void load_pairs(const float* p, F* even, F* odd) {
  const __m512i e = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const F a = load(p), b = load(p + 16);
  *even = _mm512_permutex2var_ps(a, e, b);
  *odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(e, _mm512_set1_epi32(1)), b);
}
inline void store_pairs(float* p, F even, F odd) {
  const __m512i lo = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  store(p, _mm512_permutex2var_ps(even, lo, odd));
  store(p + 16, _mm512_permutex2var_ps(even, _mm512_add_epi32(lo, _mm512_set1_epi32(8)), odd));
}

}  // namespace
}  // namespace gainz::onednn
