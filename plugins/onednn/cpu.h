// What this CPU is, and which table of kernels it gets.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/kernels.h"

namespace gainz::onednn {

// Rising: a higher one can run everything that a lower one can, as far as this plugin uses it. kAmx is kAvx512Vnni with tiles
// for prompt tokens.
enum class Isa : uint32_t { kScalar, kAvx2, kAvxVnni, kAvx512Vnni, kAmx };

// By CPUID and XGETBV (the operating system saves the registers too).
Isa best_isa();
bool supports(Isa isa);  // AVX-VNNI is missing on some CPUs with AVX-512 VNNI
// False: no such name.
bool parse_isa(const char* name, Isa* out_isa);
// The best supported one that is not above `bound`.
Isa lowered_isa(Isa bound);
const Kernels* kernels_of(Isa isa);  // of a supported one

// AMX as this process finds it: what the CPU and the kernel say, permission, and a trial product held against the scalar one.
struct AmxState {
  bool is_usable = false;
  std::string reason;   // why not, where the CPU has it; "" where it has not
  double block_ns = 0;  // of a trial product of 32 outputs by 32 tokens by 32 columns, for the log
};
const AmxState& amx_state();  // found out once

std::string cpu_brand();
uint64_t memory_total_bytes();
uint64_t memory_free_bytes();  // what the kernel calls available

}  // namespace gainz::onednn
