// F: 8 floats in a ymm register (AVX2, FMA, F16C). Everything is local to the including file.
#pragma once

#include <immintrin.h>
#include <stdint.h>

namespace gainz::onednn {
namespace {

using F = __m256;
constexpr uint32_t W = 8;

inline F set1(float x) { return _mm256_set1_ps(x); }
inline F load(const float* p) { return _mm256_loadu_ps(p); }
inline __m256i mask_of(uint64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline F load_n(const float* p, uint64_t n) { return _mm256_maskload_ps(p, mask_of(n)); }
inline void store(float* p, F x) { _mm256_storeu_ps(p, x); }
inline void store_n(float* p, F x, uint64_t n) { _mm256_maskstore_ps(p, mask_of(n), x); }
inline F add(F a, F b) { return _mm256_add_ps(a, b); }
inline F sub(F a, F b) { return _mm256_sub_ps(a, b); }
inline F mul(F a, F b) { return _mm256_mul_ps(a, b); }
inline F div(F a, F b) { return _mm256_div_ps(a, b); }
inline F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
inline F fnma(F a, F b, F c) { return _mm256_fnmadd_ps(a, b, c); }
inline F max(F a, F b) { return _mm256_max_ps(a, b); }
inline F min(F a, F b) { return _mm256_min_ps(a, b); }
inline F abs(F a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
inline F round(F a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline F select_lt(F a, F b, F x, F y) { return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
// Two steps, so that the powers at either end of the range exist.
inline F times_2n(F x, F n) {
  const __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1), rest = _mm256_sub_epi32(whole, half);
  const __m256i bias = _mm256_set1_epi32(127);
  const F a = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
  const F b = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23));
  return mul(mul(x, a), b);
}
inline float hsum(F x) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
inline float hmax(F x) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_shuffle_ps(s, s, 1)));
}
inline F load_f16(const uint16_t* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
inline void store_f16(uint16_t* p, F x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline F load_bf16(const uint16_t* p) {
  return _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16));
}
inline F load_i8(const int8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
inline F load_u8(const uint8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
inline F keep_lanes(F x, int32_t base, int32_t first, int32_t last, F fill) {
  const __m256i lane = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(base));
  const __m256i keep = _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(first), lane),
                                           _mm256_cmpgt_epi32(_mm256_set1_epi32(last), lane));
  return _mm256_blendv_ps(fill, x, _mm256_castsi256_ps(keep));
}
inline __m256i abs_bits(const float* p) {
  return _mm256_and_si256(_mm256_castps_si256(load(p)), _mm256_set1_epi32(0x7fffffff));
}
inline uint32_t max_abs_bits32(const float* x) {
  const __m256i a = _mm256_max_epu32(abs_bits(x), abs_bits(x + 8)), b = _mm256_max_epu32(abs_bits(x + 16), abs_bits(x + 24));
  const __m256i c = _mm256_max_epu32(a, b);
  __m128i d = _mm_max_epu32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));
  d = _mm_max_epu32(d, _mm_shuffle_epi32(d, 0x4e));
  d = _mm_max_epu32(d, _mm_shuffle_epi32(d, 0xb1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(d));
}
inline int32_t hsum_epi32(__m256i x) {
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}
inline void round16_to_i8(const float* x, float factor, int8_t* q, int32_t* sum) {
  const __m256i bound = _mm256_set1_epi32(127), low_bound = _mm256_set1_epi32(-127);
  const __m256i a = _mm256_max_epi32(_mm256_min_epi32(_mm256_cvtps_epi32(mul(load(x), set1(factor))), bound), low_bound);
  const __m256i b = _mm256_max_epi32(_mm256_min_epi32(_mm256_cvtps_epi32(mul(load(x + 8), set1(factor))), bound), low_bound);
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(q),
                   _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  *sum = hsum_epi32(_mm256_add_epi32(a, b));
}
inline void round_to_i8(const float* x, float factor, int8_t* q, int32_t* lo, int32_t* hi) {
  round16_to_i8(x, factor, q, lo);
  round16_to_i8(x + 16, factor, q + 16, hi);
}
inline void load_pairs(const float* p, F* even, F* odd) {
  const F a = load(p), b = load(p + 8);
  const F lo = _mm256_permute2f128_ps(a, b, 0x20), hi = _mm256_permute2f128_ps(a, b, 0x31);  // 0-3 8-11, 4-7 12-15
  *even = _mm256_shuffle_ps(lo, hi, 0x88);
  *odd = _mm256_shuffle_ps(lo, hi, 0xdd);
}
inline void store_pairs(float* p, F even, F odd) {
  const F lo = _mm256_unpacklo_ps(even, odd), hi = _mm256_unpackhi_ps(even, odd);
  store(p, _mm256_permute2f128_ps(lo, hi, 0x20));
  store(p + 8, _mm256_permute2f128_ps(lo, hi, 0x31));
}

}  // namespace
}  // namespace gainz::onednn
