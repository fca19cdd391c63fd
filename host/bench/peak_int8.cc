// The most 8-bit integer products per second: dot products of registers with themselves, enough of them at once to hide the
// latency. One round is kChains dot-product instructions. The empty asm makes the compiler believe that each sum is new every
// time.
#include "bench/machine.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "bench/cpu_bits.h"
#endif

namespace gainz::host {
namespace {

constexpr int kChains = 12;

void run_scalar(uint64_t rounds) {
  int32_t sum[kChains] = {};
  int32_t a = 3, b = 5;
  for (; rounds > 0; --rounds) {
    for (int32_t& s : sum) {
      s += a * b;
      asm volatile("" : "+r"(a), "+r"(b), "+r"(s));
    }
  }
}
constexpr PeakKernel kScalar = {"scalar", IsaLevel::scalar, kChains * 2, run_scalar};

#if defined(__x86_64__)
// Without VNNI a dot product is three instructions (multiply pairs, widen, add): 32 multiplications and 32 additions.
__attribute__((target("avx2"))) void run_avx2(uint64_t rounds) {
  __m256i sum[kChains] = {};
  __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(5);
  const __m256i ones = _mm256_set1_epi16(1);
  for (; rounds > 0; --rounds) {
    for (__m256i& s : sum) {
      s = _mm256_add_epi32(s, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones));
      asm volatile("" : "+x"(a), "+x"(s));
    }
  }
}
constexpr PeakKernel kAvx2 = {"avx2", IsaLevel::avx2, kChains * 64, run_avx2};

__attribute__((target("avxvnni,avx2"))) void run_avx_vnni(uint64_t rounds) {
  __m256i sum[kChains] = {};
  __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(5);
  for (; rounds > 0; --rounds) {
    for (__m256i& s : sum) {
      s = _mm256_dpbusd_avx_epi32(s, a, b);
      asm volatile("" : "+x"(s));
    }
  }
}
constexpr PeakKernel kAvxVnni = {"avx_vnni", IsaLevel::avx_vnni, kChains * 64, run_avx_vnni};

__attribute__((target("avx512vnni,avx512f,avx512bw"))) void run_avx512_vnni(uint64_t rounds) {
  __m512i sum[kChains] = {};
  __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(5);
  for (; rounds > 0; --rounds) {
    for (__m512i& s : sum) {
      s = _mm512_dpbusd_epi32(s, a, b);
      asm volatile("" : "+v"(s));
    }
  }
}
constexpr PeakKernel kAvx512Vnni = {"avx512_vnni", IsaLevel::avx512_vnni, kChains * 128, run_avx512_vnni};
#endif

}  // namespace

const PeakKernel* peak_int8_kernel(IsaLevel most) {
#if defined(__x86_64__)
  if (most >= IsaLevel::avx512_vnni && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"))
    return &kAvx512Vnni;
  if (most >= IsaLevel::avx_vnni && __builtin_cpu_supports("avx2") && cpu_has_avx_vnni()) return &kAvxVnni;
  if (most >= IsaLevel::avx2 && __builtin_cpu_supports("avx2")) return &kAvx2;
#endif
  (void)most;
  return &kScalar;
}

}  // namespace gainz::host
