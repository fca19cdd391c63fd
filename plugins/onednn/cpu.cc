#include "cpu.h"

#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gainz::onednn {

namespace {
constexpr struct {
  const char* name;
  Isa isa;
} kNames[] = {{"scalar", Isa::kScalar},
              {"avx2", Isa::kAvx2},
              {"avx_vnni", Isa::kAvxVnni},
              {"avx512_vnni", Isa::kAvx512Vnni},
              {"amx", Isa::kAmx}};

#if defined(__x86_64__)
bool has_avx_vnni() {  // not among the names that __builtin_cpu_supports of g++ 12 knows
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & 1u << 4) != 0;
}
#endif

uint64_t meminfo_bytes(const char* key) {
  std::FILE* file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return 0;
  char line[256];
  unsigned long long kib = 0;
  const size_t length = std::strlen(key);
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, key, length) == 0 && std::sscanf(line + length, " %llu kB", &kib) == 1) break;
  std::fclose(file);
  return kib * 1024;
}
}  // namespace

bool supports(Isa isa) {
  if (isa == Isa::kScalar) return true;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (isa == Isa::kAvx2) return avx2;
  if (isa == Isa::kAvxVnni) return avx2 && has_avx_vnni();
  if (isa == Isa::kAvx512Vnni)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
  if (isa == Isa::kAmx) return supports(Isa::kAvx512Vnni) && amx_state().is_usable;
#endif
  return false;
}

Isa best_isa() { return lowered_isa(Isa::kAmx); }

bool parse_isa(const char* name, Isa* out_isa) {
  for (const auto& known : kNames) {
    if (std::strcmp(known.name, name) != 0) continue;
    *out_isa = known.isa;
    return true;
  }
  return false;
}

Isa lowered_isa(Isa bound) {
  for (const Isa isa : {Isa::kAmx, Isa::kAvx512Vnni, Isa::kAvxVnni, Isa::kAvx2})
    if (isa <= bound && supports(isa)) return isa;
  return Isa::kScalar;
}

const Kernels* kernels_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2) return avx2_kernels();
  if (isa == Isa::kAvxVnni) return avx_vnni_kernels();
  if (isa == Isa::kAvx512Vnni) return avx512_vnni_kernels();
  if (isa == Isa::kAmx) return amx_kernels();
#endif
  return isa == Isa::kScalar ? scalar_kernels() : nullptr;
}

std::string cpu_brand() {
#if defined(__x86_64__)
  unsigned words[13] = {};
  if (__get_cpuid_max(0x80000000u, nullptr) >= 0x80000004u) {
    for (unsigned i = 0; i < 3; ++i)
      __get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
    std::string brand(reinterpret_cast<const char*>(words));
    const size_t first = brand.find_first_not_of(' '), last = brand.find_last_not_of(' ');
    if (first != std::string::npos) return brand.substr(first, last - first + 1);
  }
#endif
  return "CPU";
}

uint64_t memory_total_bytes() { return meminfo_bytes("MemTotal:"); }
uint64_t memory_free_bytes() { return meminfo_bytes("MemAvailable:"); }

}  // namespace gainz::onednn
