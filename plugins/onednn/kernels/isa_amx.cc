// The kernels for AVX-512 with VNNI and, for prompt tokens, AMX.
#include "kernels/simd_avx512.h"

#include "kernels/linear_zmm.h"

#include "kernels/attention_amx.h"

#define GAINZ_DENSE GAINZ_DENSE_8
#include "kernels/table.h"

namespace gainz::onednn {

const Kernels* amx_kernels() {
  static constexpr Kernels kTable = make_table("amx", &kTileKernels);
  return &kTable;
}

}  // namespace gainz::onednn
