// What this CPU is, and which table of kernels it gets.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/kernels.h"

namespace gainz::onednn {

// Rising: a higher one can run everything that a lower one can, as far as this plugin uses it. kAmx has no kernels of its own
// yet: as an upper bound it means kAvx512Vnni.
enum class Isa : uint32_t { kScalar, kAvx2, kAvxVnni, kAvx512Vnni, kAmx };

// By CPUID and XGETBV (the operating system saves the registers too).
Isa best_isa();
bool supports(Isa isa);  // AVX-VNNI is missing on some CPUs with AVX-512 VNNI
// False: no such name.
bool parse_isa(const char* name, Isa* out_isa);
// The best supported one that is not above `bound`.
Isa lowered_isa(Isa bound);
const Kernels* kernels_of(Isa isa);  // of a supported one

std::string cpu_brand();
uint64_t memory_total_bytes();
uint64_t memory_free_bytes();  // what the kernel calls available

}  // namespace gainz::onednn
