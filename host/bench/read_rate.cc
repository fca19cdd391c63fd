// Reading memory as fast as the processor can: wide loads, several sums so that no load waits for an addition.
#include "bench/machine.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gainz::host {
namespace {

uint64_t read_scalar(const void* bytes, uint64_t num_bytes) {
  const auto* at = static_cast<const uint64_t*>(bytes);
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (const uint64_t* end = at + num_bytes / 8; at < end; at += 4) a += at[0], b += at[1], c += at[2], d += at[3];
  return a + b + c + d;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) uint64_t read_avx2(const void* bytes, uint64_t num_bytes) {
  const auto* at = static_cast<const __m256i*>(bytes);
  __m256i sum[8] = {};
  for (const __m256i* end = at + num_bytes / 32; at < end; at += 8) {
    for (int i = 0; i < 8; ++i) sum[i] = _mm256_add_epi64(sum[i], _mm256_load_si256(at + i));
  }
  alignas(32) uint64_t parts[4];
  uint64_t total = 0;
  for (const __m256i& part : sum) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(parts), part);
    total += parts[0] + parts[1] + parts[2] + parts[3];
  }
  return total;
}

__attribute__((target("avx512f"))) uint64_t read_avx512(const void* bytes, uint64_t num_bytes) {
  const auto* at = static_cast<const __m512i*>(bytes);
  __m512i sum[8] = {};
  for (const __m512i* end = at + num_bytes / 64; at < end; at += 8) {
    for (int i = 0; i < 8; ++i) sum[i] = _mm512_add_epi64(sum[i], _mm512_load_si512(at + i));
  }
  alignas(64) uint64_t parts[8];
  uint64_t total = 0;
  for (const __m512i& part : sum) {
    _mm512_store_si512(parts, part);
    for (const uint64_t lane : parts) total += lane;
  }
  return total;
}
#endif

}  // namespace

uint64_t read_all(const void* bytes, uint64_t num_bytes, IsaLevel most) {
#if defined(__x86_64__)
  if (most >= IsaLevel::avx512_vnni && __builtin_cpu_supports("avx512f")) return read_avx512(bytes, num_bytes);
  if (most >= IsaLevel::avx2 && __builtin_cpu_supports("avx2")) return read_avx2(bytes, num_bytes);
#endif
  (void)most;
  return read_scalar(bytes, num_bytes);
}

}  // namespace gainz::host
