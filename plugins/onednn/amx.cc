// Whether AMX can be used: CPUID, what the kernel saves (XCR0), its permission, and a trial.
#include <chrono>
#include <cmath>
#include <cstring>

#include "cpu.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace gainz::onednn {

namespace {

#if defined(__x86_64__) && defined(__linux__)

constexpr long kArchRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM of arch_prctl(2), Linux 5.16
constexpr long kTileData = 18;                   // XFEATURE_XTILE_DATA
constexpr uint64_t kTileStates = 3ull << 17;     // of XCR0: configuration and data

bool cpu_has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  const bool has_tiles = (d & 1u << 24) != 0 && (d & 1u << 22) != 0;  // AMX-TILE, AMX-BF16
  if (!has_tiles || __get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) return false;
  return (a & 1u << 5) != 0;  // AVX512_BF16
}

bool kernel_saves_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & 1u << 27) == 0) return false;  // OSXSAVE
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileStates) == kTileStates;
}

// One panel of Q8_0 form against a tile of tokens: small integers and powers of two, so that every sum is exact.
bool trial(double* out_block_ns) {
  const TileKernels& tiles = *amx_kernels()->tiles;
  constexpr uint32_t kRounds = 64;
  alignas(64) uint8_t panel[512 + 32], x[kTileBytes];
  alignas(64) uint8_t scratch[kTileScratchBytes];
  alignas(64) float sums[2 * kTileRows * 32], token[kBlock];
  for (uint32_t i = 0; i < 8; ++i)
    for (uint32_t r = 0; r < 16; ++r)
      for (uint32_t j = 0; j < 4; ++j) panel[64 * i + 4 * r + j] = static_cast<uint8_t>(128 + (4 * i + j + 3 * r) % 7 - 3);
  const uint16_t half = 0x3800;  // 0.5 in f16
  for (uint32_t r = 0; r < 16; ++r) std::memcpy(panel + 512 + 2 * r, &half, 2);
  for (uint32_t t = 0; t < kTileRows; ++t) {
    for (uint32_t k = 0; k < kBlock; ++k) token[k] = static_cast<float>((k + 5 * t) % 9) - 4;
    tiles.row(token, kBlock, t, x);
  }
  const TileLinearArgs args{{panel, panel}, 1, 1, x, kTileBytes, scratch, sums, 32 * sizeof(float)};
  tiles.begin();
  const auto begin = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < kRounds; ++i) tiles.linear[kP8H](&args);
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  tiles.end();
  *out_block_ns = time.count() / kRounds;
  for (uint32_t t = 0; t < kTileRows; ++t) {
    for (uint32_t r = 0; r < 16; ++r) {
      float sum = 0;
      for (uint32_t k = 0; k < kBlock; ++k)
        sum += 0.5f * (static_cast<float>((k + 3 * r) % 7) - 3) * (static_cast<float>((k + 5 * t) % 9) - 4);
      if (sums[t * 32 + r] != sum) return false;
    }
  }
  return true;
}

AmxState find_out() {
  AmxState state;
  if (!cpu_has_amx() || !supports(Isa::kAvx512Vnni)) return state;
  if (!kernel_saves_tiles()) {
    state.reason = "the operating system does not save its registers";
  } else if (syscall(SYS_arch_prctl, kArchRequestPermission, kTileData) != 0) {
    state.reason = "the operating system does not permit it";
  } else if (!trial(&state.block_ns)) {
    state.reason = "a trial product was wrong";
  } else {
    state.is_usable = true;
  }
  return state;
}

#else

AmxState find_out() { return {}; }

#endif

}  // namespace

const AmxState& amx_state() {
  static const AmxState kState = find_out();
  return kState;
}

}  // namespace gainz::onednn
