// The kernels for AVX-VNNI: AVX2 and 256-bit dot products of bytes.
#define GAINZ_AVX_VNNI
#include "kernels/simd_avx2.h"

#include "kernels/linear_ymm.h"

#define GAINZ_DENSE GAINZ_DENSE_4
#include "kernels/table.h"

namespace gainz::onednn {

const Kernels* avx_vnni_kernels() {
  static constexpr Kernels kTable = make_table("avx_vnni");
  return &kTable;
}

}  // namespace gainz::onednn
