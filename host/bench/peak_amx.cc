// The most 8-bit integer products per second of AMX tiles: [16 rows, 64 bytes] times [64, 16], 16384 multiplications an
// instruction. Linux lends the tiles on request. The configuration is loaded by asm that takes all of its 64 bytes: the
// compiler's own intrinsic is believed to read eight, so the rest would not be written.
#include "bench/machine.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/cpu_bits.h"
#endif

namespace gainz::host {

#if defined(__x86_64__)
namespace {

constexpr int kArchReqXcompPerm = 0x1023;
constexpr int kXfeatureTileData = 18;

struct alignas(64) TileConfig {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t num_rows[16];
};
static_assert(sizeof(TileConfig) == 64);

__attribute__((target("amx-tile,amx-int8"))) void run_amx(uint64_t rounds) {
  TileConfig config{};
  config.palette = 1;
  for (int tile = 0; tile < 8; ++tile) config.row_bytes[tile] = 64, config.num_rows[tile] = 16;
  asm volatile("ldtilecfg %0" : : "m"(config));
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (; rounds > 0; --rounds) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
}
constexpr PeakKernel kAmx = {"amx", IsaLevel::amx, uint64_t{4} * 2 * 16384, run_amx};

}  // namespace

const PeakKernel* peak_amx_kernel() {
  if (!cpu_has_amx_int8()) return nullptr;
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kXfeatureTileData) == 0 ? &kAmx : nullptr;
}
#else
const PeakKernel* peak_amx_kernel() { return nullptr; }
#endif

}  // namespace gainz::host
