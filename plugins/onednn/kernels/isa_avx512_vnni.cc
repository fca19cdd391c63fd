// The kernels for AVX-512 with VNNI.
#include "kernels/simd_avx512.h"

#include "kernels/linear_zmm.h"

#define GAINZ_DENSE GAINZ_DENSE_8
#include "kernels/table.h"

namespace gainz::onednn {

const Kernels* avx512_vnni_kernels() {
  static constexpr Kernels kTable = make_table("avx512_vnni");
  return &kTable;
}

}  // namespace gainz::onednn
