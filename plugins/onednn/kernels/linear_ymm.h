// Panel times token tile with 256-bit vectors; the meaning is that of linear_zmm.h, and the int32 sums are the same numbers.
//
// A panel is done as two halves of 8 rows. With AVX-VNNI the dot product is vpdpbusd. With AVX2 alone it is vpmaddubsw, whose
// pairs are summed in 16 bits: nibbles times 127 stay within that for a whole block (16 * 15 * 127 < 32768), codes below 128
// for one pair; codes with offset 128 are made signed and multiplied as |w| * (sign(w) q), where a pair is at most 2 * 128 *
// 127 < 32768.
#pragma once

#include "kernels/scales.h"

namespace gainz::onednn {
namespace {

#define GAINZ_UNROLL _Pragma("GCC unroll 8")

inline __m256i four(const int8_t* q) {
  int32_t word;
  __builtin_memcpy(&word, q, 4);
  return _mm256_set1_epi32(word);
}

template <bool Nibbles>
inline __m256i code_vector(const uint8_t* codes, int i) {
  if constexpr (!Nibbles) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 64 * i));
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 64 * (i & 3)));
  return _mm256_and_si256(i < 4 ? v : _mm256_srli_epi16(v, 4), _mm256_set1_epi8(15));
}

// acc[t] = the products of vectors [First, Last), offset included.
template <uint32_t Fmt, int First, int Last, int NT>
inline void dots(const uint8_t* codes, const ActBlock* const* x, uint32_t b, __m256i* acc) {
  using P = Panel<Fmt>;
#ifdef GAINZ_AVX_VNNI
  GAINZ_UNROLL for (int t = 0; t < NT; ++t) {
    const ActBlock& a = x[t][b];
    if constexpr (P::kOffset == 0) acc[t] = _mm256_setzero_si256();
    if constexpr (P::kOffset == 8) acc[t] = _mm256_set1_epi32(a.n8);
    if constexpr (P::kOffset == 128)
      acc[t] = _mm256_set1_epi32(Last - First == 8 ? a.n128 : First == 0 ? a.n128_lo : a.n128_hi);
  }
  GAINZ_UNROLL for (int i = First; i < Last; ++i) {
    const __m256i w = code_vector<P::kNibbles>(codes, i);
    GAINZ_UNROLL for (int t = 0; t < NT; ++t) acc[t] = _mm256_dpbusd_avx_epi32(acc[t], w, four(x[t][b].q + 4 * i));
  }
#else
  const __m256i ones = _mm256_set1_epi16(1);
  GAINZ_UNROLL for (int t = 0; t < NT; ++t) acc[t] = _mm256_setzero_si256();
  if constexpr (P::kNibbles) {
    GAINZ_UNROLL for (int i = First; i < Last; ++i) {
      const __m256i w = code_vector<true>(codes, i);
      GAINZ_UNROLL for (int t = 0; t < NT; ++t) acc[t] =
          _mm256_add_epi16(acc[t], _mm256_maddubs_epi16(w, four(x[t][b].q + 4 * i)));
    }
    GAINZ_UNROLL for (int t = 0; t < NT; ++t) {
      acc[t] = _mm256_madd_epi16(acc[t], ones);
      if constexpr (P::kOffset == 8) acc[t] = _mm256_add_epi32(acc[t], _mm256_set1_epi32(x[t][b].n8));
    }
  } else {
    GAINZ_UNROLL for (int i = First; i < Last; ++i) {
      __m256i w = code_vector<false>(codes, i);
      if constexpr (P::kOffset == 128) w = _mm256_xor_si256(w, _mm256_set1_epi8(static_cast<char>(0x80)));
      const __m256i size = P::kOffset == 128 ? _mm256_abs_epi8(w) : w;
      GAINZ_UNROLL for (int t = 0; t < NT; ++t) {
        __m256i a = four(x[t][b].q + 4 * i);
        if constexpr (P::kOffset == 128) a = _mm256_sign_epi8(a, w);
        acc[t] = _mm256_add_epi32(acc[t], _mm256_madd_epi16(_mm256_maddubs_epi16(size, a), ones));
      }
    }
  }
#endif
}

template <uint32_t Fmt, int NT>
inline void linear_half(const uint8_t* panel, uint32_t num_blocks, const ActBlock* const* x, const float* bias, float* const* y,
                        uint32_t row) {
  using P = Panel<Fmt>;
  const uint8_t* heads = panel + static_cast<uint64_t>(num_blocks) * P::kCodeBytes;
  F f[NT];
  GAINZ_UNROLL for (int t = 0; t < NT; ++t) f[t] = set1(0);
  for (uint32_t b = 0; b < num_blocks; ++b) {
    const uint8_t* codes = panel + static_cast<uint64_t>(b) * P::kCodeBytes + 4 * row;
    const uint8_t* head = P::head(heads, b);
    if (NT <= 2 && row == 0) {
      for (uint32_t i = 0; i < P::kCodeBytes; i += 64)
        _mm_prefetch(reinterpret_cast<const char*>(codes + 6144 + i), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(head + 6144), _MM_HINT_T0);
    }
    __m256i acc[NT];
    const F scale = scale_of<Fmt>(head, b, 0, row);
    if constexpr (P::kHalves) {
      const F scale_hi = scale_of<Fmt>(head, b, 1, row);
      dots<Fmt, 0, 4, NT>(codes, x, b, acc);
      GAINZ_UNROLL for (int t = 0; t < NT; ++t) f[t] = fma(_mm256_cvtepi32_ps(acc[t]), mul(scale, set1(x[t][b].d)), f[t]);
      dots<Fmt, 4, 8, NT>(codes, x, b, acc);
      GAINZ_UNROLL for (int t = 0; t < NT; ++t) f[t] = fma(_mm256_cvtepi32_ps(acc[t]), mul(scale_hi, set1(x[t][b].d)), f[t]);
      if constexpr (P::kMins) {
        const F low = min_of<Fmt>(head, b, 0, row), low_hi = min_of<Fmt>(head, b, 1, row);
        GAINZ_UNROLL for (int t = 0; t < NT; ++t) f[t] = fma(low_hi, set1(x[t][b].ds_hi), fma(low, set1(x[t][b].ds_lo), f[t]));
      }
    } else {
      dots<Fmt, 0, 8, NT>(codes, x, b, acc);
      GAINZ_UNROLL for (int t = 0; t < NT; ++t) f[t] = fma(_mm256_cvtepi32_ps(acc[t]), mul(scale, set1(x[t][b].d)), f[t]);
      if constexpr (P::kMins) {
        const F low = min_of<Fmt>(head, b, 0, row);
        GAINZ_UNROLL for (int t = 0; t < NT; ++t) f[t] = fma(low, set1(x[t][b].ds), f[t]);
      }
    }
  }
  GAINZ_UNROLL for (int t = 0; t < NT; ++t) store(y[t] + row, bias ? add(f[t], load(bias + row)) : f[t]);
}

template <uint32_t Fmt, int NT>
void linear(const uint8_t* panel, uint32_t num_blocks, const ActBlock* const* x, const float* bias, float* const* y) {
  linear_half<Fmt, NT>(panel, num_blocks, x, bias, y, 0);
  linear_half<Fmt, NT>(panel, num_blocks, x, bias, y, 8);
}

#define GAINZ_LINEAR(fmt) \
  { linear<fmt, 1>, linear<fmt, 2>, linear<fmt, 4>, nullptr, nullptr }

}  // namespace
}  // namespace gainz::onednn
