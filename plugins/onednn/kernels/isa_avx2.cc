// The kernels for AVX2 with FMA and F16C.
#include "kernels/simd_avx2.h"

#include "kernels/linear_ymm.h"

#define GAINZ_DENSE GAINZ_DENSE_4
#include "kernels/table.h"

namespace gainz::onednn {

const Kernels* avx2_kernels() {
  static constexpr Kernels kTable = make_table("avx2");
  return &kTable;
}

}  // namespace gainz::onednn
