// What this machine can do at most, measured on the spot: bytes read per second by all threads, and operations per second from
// registers. Owns its threads and memory for the time of the call. Blocking; call while nothing else computes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gainz::host {

// An instruction set is used if the processor has it and `cpu_isa` (the setting of that name) allows it.
enum class IsaLevel : uint8_t { scalar, avx2, avx_vnni, avx512_vnni, amx };
IsaLevel isa_level(std::string_view cpu_isa);

struct MachineLimits {
  double read_gb_per_second = 0;  // 1e9 bytes
  double peak_gops = 0;           // 1e9 multiplications and additions
  std::string peak_kind;          // "int8 avx512_vnni", "f32 avx2"
};

// buffer_bytes: as many as the model reads for a token, so that a model that fits the caches is held against the caches.
// f32: the limit of float products, else of 8-bit integer products.
MachineLimits measure_limits(uint64_t buffer_bytes, uint32_t num_threads, bool f32, IsaLevel most);

std::string cpu_name();        // from /proc/cpuinfo, "" if unknown
uint32_t num_usable_cores();   // of this process's affinity
uint64_t peak_memory_bytes();  // VmHWM of this process, 0 if unknown

// The shortest time in seconds of body(thread) on all threads at once: at least kMinPasses passes and kMinSeconds.
double best_seconds(uint32_t num_threads, const std::function<void(uint32_t thread)>& body);

// One way to multiply: run(rounds) does rounds * ops_per_round multiplications and additions on one thread, all in registers.
struct PeakKernel {
  const char* name;
  IsaLevel level;
  uint64_t ops_per_round;
  void (*run)(uint64_t rounds);
};
// nullptr: not on this machine.
const PeakKernel* peak_int8_kernel(IsaLevel most);
const PeakKernel* peak_amx_kernel();
const PeakKernel* peak_f32_kernel(IsaLevel most);
// Reads num_bytes (a multiple of 4096) and answers something that depends on all of them.
uint64_t read_all(const void* bytes, uint64_t num_bytes, IsaLevel most);

}  // namespace gainz::host
