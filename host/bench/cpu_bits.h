// Instruction sets that __builtin_cpu_supports of clang 14 has no name for; Intel's manual, volume 2, CPUID leaf 7. Whether the
// system saves their registers is for the caller to know. Constant; any thread.
#pragma once

#include <cpuid.h>

#include <cstdint>

namespace gainz::host {

struct Leaf7 {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
inline Leaf7 cpuid_leaf7(uint32_t subleaf) {
  Leaf7 out;
  if (__get_cpuid_count(7, subleaf, &out.eax, &out.ebx, &out.ecx, &out.edx) == 0) return {};
  return out;
}

inline bool cpu_has_avx_vnni() { return (cpuid_leaf7(1).eax >> 4 & 1) != 0; }
inline bool cpu_has_amx_int8() { return (cpuid_leaf7(0).edx >> 24 & 3) == 3; }  // with the tiles

}  // namespace gainz::host
