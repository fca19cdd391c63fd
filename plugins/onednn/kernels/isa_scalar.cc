// The kernels for any CPU.
#include "kernels/simd_scalar.h"

#include "kernels/linear_scalar.h"

#define GAINZ_DENSE GAINZ_DENSE_4
#include "kernels/table.h"

namespace gainz::onednn {

const Kernels* scalar_kernels() {
  static constexpr Kernels kTable = make_table("scalar");
  return &kTable;
}

}  // namespace gainz::onednn
