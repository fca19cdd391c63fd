// Panel times token tile with AVX-512 VNNI: vpdpbusd with the four activation bytes broadcast from memory.
//
//   for each block b, token t:  acc = -offset * sum(q) + sum_k code[k] * q[t][k]          int32, exact
//                               y[t] += float(acc) * (scale * d[t]);  y[t] += min * ds[t]  f32, b rising
//
// The weights are unpacked once for the whole tile. Four tokens run interleaved, so that the dot products do not wait for each
// other. The instruction is written out because g++ 12 makes a separate broadcast of the intrinsic's operand (a third slower).
#pragma once

#include "kernels/scales.h"

namespace gainz::onednn {
namespace {

#define GAINZ_UNROLL _Pragma("GCC unroll 16")

inline __m512i dot4(__m512i acc, __m512i w, const int8_t* q) {
  struct Four {
    int8_t v[4];
  };
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(w), "m"(*reinterpret_cast<const Four*>(q)));
  return acc;
}

template <uint32_t Fmt>
inline void unpack(const uint8_t* codes, __m512i* w) {
  if constexpr (Panel<Fmt>::kNibbles) {
    const __m512i low = _mm512_set1_epi8(15);
    GAINZ_UNROLL for (int i = 0; i < 4; ++i) {
      const __m512i v = _mm512_loadu_si512(codes + 64 * i);
      w[i] = _mm512_and_si512(v, low);
      w[i + 4] = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);
    }
  } else {
    GAINZ_UNROLL for (int i = 0; i < 8; ++i) w[i] = _mm512_loadu_si512(codes + 64 * i);
  }
}

// Vectors [First, Last) of the block against tokens t0 .. t0 + G - 1.
template <uint32_t Fmt, int First, int Last, int G>
inline void dots(const __m512i* w, const ActBlock* const* x, uint32_t b, __m512i* acc) {
  GAINZ_UNROLL for (int t = 0; t < G; ++t) {
    const ActBlock& a = x[t][b];
    if constexpr (Panel<Fmt>::kOffset == 0) acc[t] = _mm512_setzero_si512();
    if constexpr (Panel<Fmt>::kOffset == 8) acc[t] = _mm512_set1_epi32(a.n8);
    if constexpr (Panel<Fmt>::kOffset == 128)
      acc[t] = _mm512_set1_epi32(Last - First == 8 ? a.n128 : First == 0 ? a.n128_lo : a.n128_hi);
  }
  GAINZ_UNROLL for (int i = First; i < Last; ++i) {
    GAINZ_UNROLL for (int t = 0; t < G; ++t) acc[t] = dot4(acc[t], w[i], x[t][b].q + 4 * i);
  }
}

// Larger tiles are rare enough per byte that the processor's own prefetching keeps up.
constexpr int kPrefetchTokens = 8;

template <uint32_t Fmt, int NT>
void linear(const uint8_t* panel, uint32_t num_blocks, const ActBlock* const* x, const float* bias, float* const* y) {
  using P = Panel<Fmt>;
  constexpr int G = NT < 4 ? NT : 4;
  const uint8_t* heads = panel + static_cast<uint64_t>(num_blocks) * P::kCodeBytes;
  F f[NT];
  GAINZ_UNROLL for (int t = 0; t < NT; ++t) f[t] = _mm512_setzero_ps();
  for (uint32_t b = 0; b < num_blocks; ++b) {
    const uint8_t* codes = panel + static_cast<uint64_t>(b) * P::kCodeBytes;
    const uint8_t* head = P::head(heads, b);
    if constexpr (NT <= kPrefetchTokens) {
      for (uint32_t i = 0; i < P::kCodeBytes; i += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(codes + 8192 + i), _MM_HINT_T1);
        _mm_prefetch(reinterpret_cast<const char*>(codes + 1536 + i), _MM_HINT_T0);
      }
      _mm_prefetch(reinterpret_cast<const char*>(head + 8192), _MM_HINT_T1);
      _mm_prefetch(reinterpret_cast<const char*>(head + 1536), _MM_HINT_T0);
    }
    __m512i w[8];
    unpack<Fmt>(codes, w);
    const F scale = scale_of<Fmt>(head, b, 0, 0);
    F low{}, scale_hi{}, low_hi{};
    if constexpr (P::kMins) low = min_of<Fmt>(head, b, 0, 0);
    if constexpr (P::kHalves) scale_hi = scale_of<Fmt>(head, b, 1, 0);
    if constexpr (P::kHalves && P::kMins) low_hi = min_of<Fmt>(head, b, 1, 0);
    GAINZ_UNROLL for (int t0 = 0; t0 < NT; t0 += G) {
      __m512i acc[G];
      if constexpr (P::kHalves) {
        dots<Fmt, 0, 4, G>(w, x + t0, b, acc);
        GAINZ_UNROLL for (int t = 0; t < G; ++t) f[t0 + t] =
            fma(_mm512_cvtepi32_ps(acc[t]), mul(scale, set1(x[t0 + t][b].d)), f[t0 + t]);
        dots<Fmt, 4, 8, G>(w, x + t0, b, acc);
        GAINZ_UNROLL for (int t = 0; t < G; ++t) f[t0 + t] =
            fma(_mm512_cvtepi32_ps(acc[t]), mul(scale_hi, set1(x[t0 + t][b].d)), f[t0 + t]);
        if constexpr (P::kMins) {
          GAINZ_UNROLL for (int t = 0; t < G; ++t) {
            f[t0 + t] = fma(low, set1(x[t0 + t][b].ds_lo), f[t0 + t]);
            f[t0 + t] = fma(low_hi, set1(x[t0 + t][b].ds_hi), f[t0 + t]);
          }
        }
      } else {
        dots<Fmt, 0, 8, G>(w, x + t0, b, acc);
        GAINZ_UNROLL for (int t = 0; t < G; ++t) f[t0 + t] =
            fma(_mm512_cvtepi32_ps(acc[t]), mul(scale, set1(x[t0 + t][b].d)), f[t0 + t]);
        if constexpr (P::kMins) {
          GAINZ_UNROLL for (int t = 0; t < G; ++t) f[t0 + t] = fma(low, set1(x[t0 + t][b].ds), f[t0 + t]);
        }
      }
    }
  }
  if (bias) {
    GAINZ_UNROLL for (int t = 0; t < NT; ++t) f[t] = add(f[t], load(bias));
  }
  GAINZ_UNROLL for (int t = 0; t < NT; ++t) store(y[t], f[t]);
}

// A tile of 16 has no registers left for four interleaved tokens and is slower than two of 8.
#define GAINZ_LINEAR(fmt) \
  { linear<fmt, 1>, linear<fmt, 2>, linear<fmt, 4>, linear<fmt, 8>, nullptr }

}  // namespace
}  // namespace gainz::onednn
