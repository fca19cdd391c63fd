// The most float products per second: fused multiply-adds of registers, enough of them at once to hide the latency.
#include "bench/machine.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gainz::host {
namespace {

constexpr int kChains = 12;

void run_scalar(uint64_t rounds) {
  float sum[kChains] = {};
  float a = 1.0f, b = 0.5f;
  for (; rounds > 0; --rounds) {
    for (float& s : sum) {
      s += a * b;
#if defined(__x86_64__)
      asm volatile("" : "+x"(a), "+x"(s));
#else
      asm volatile("" : "+m"(a), "+m"(s));
#endif
    }
  }
}
constexpr PeakKernel kScalar = {"scalar", IsaLevel::scalar, kChains * 2, run_scalar};

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void run_avx2(uint64_t rounds) {
  __m256 sum[kChains] = {};
  const __m256 a = _mm256_set1_ps(1.0f), b = _mm256_set1_ps(0.5f);
  for (; rounds > 0; --rounds) {
    for (__m256& s : sum) {
      s = _mm256_fmadd_ps(a, b, s);
      asm volatile("" : "+x"(s));
    }
  }
}
constexpr PeakKernel kAvx2 = {"avx2", IsaLevel::avx2, kChains * 16, run_avx2};

__attribute__((target("avx512f"))) void run_avx512(uint64_t rounds) {
  __m512 sum[kChains] = {};
  const __m512 a = _mm512_set1_ps(1.0f), b = _mm512_set1_ps(0.5f);
  for (; rounds > 0; --rounds) {
    for (__m512& s : sum) {
      s = _mm512_fmadd_ps(a, b, s);
      asm volatile("" : "+v"(s));
    }
  }
}
constexpr PeakKernel kAvx512 = {"avx512", IsaLevel::avx512_vnni, kChains * 32, run_avx512};
#endif

}  // namespace

const PeakKernel* peak_f32_kernel(IsaLevel most) {
#if defined(__x86_64__)
  if (most >= IsaLevel::avx512_vnni && __builtin_cpu_supports("avx512f")) return &kAvx512;
  if (most >= IsaLevel::avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &kAvx2;
#endif
  (void)most;
  return &kScalar;
}

}  // namespace gainz::host
