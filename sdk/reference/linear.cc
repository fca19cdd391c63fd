#include "linear.h"

#include "dequantize.h"
#include "dot.h"
#include "gainz/sdk/types.h"

namespace gainz::reference {

void linear(const float* x, uint32_t type, const void* w, const float* bias, float* out, uint64_t num_rows, uint64_t k,
            uint64_t begin, uint64_t end, uint64_t out_stride, float* row) {
  const uint64_t bytes = row_bytes(type, k);
  const auto* rows = static_cast<const uint8_t*>(w);
  for (uint64_t n = begin; n < end; ++n) {
    dequantize_row(type, rows + n * bytes, row, k);
    dot_rows(row, x, k, num_rows, k, out + n, out_stride);
    if (bias == nullptr) continue;
    for (uint64_t i = 0; i < num_rows; ++i) out[i * out_stride + n] += bias[n];
  }
}

void embed(const int32_t* tokens, uint32_t type, const void* w, float* out, uint64_t num_tokens, uint64_t dim) {
  const uint64_t bytes = row_bytes(type, dim);
  const auto* rows = static_cast<const uint8_t*>(w);
  for (uint64_t t = 0; t < num_tokens; ++t) {
    dequantize_row(type, rows + static_cast<uint64_t>(tokens[t]) * bytes, out + t * dim, dim);
  }
}

}  // namespace gainz::reference
