// A weight in the form in which kernels read it: panels of 16 rows (kernels.h), packed once when the model is made.
//
// Every GGUF type maps onto a panel format without rounding: the product of a block's f16 scale and its 4 to 8 bit sub-scale
// fits f32. Threads: packing of different panels may run at once; afterwards a weight is constant.
#pragma once

#include "kernels/kernels.h"
#include "support.h"

namespace gainz::onednn {

struct TypeInfo {
  uint32_t type;  // GAINZ_TYPE_*
  uint32_t block_columns, block_bytes;
  PanelFormat format;
};
const TypeInfo* find_type(uint32_t type);  // NULL: not a weight type of this plugin

// dims of a weight matrix (or of `num_matrices` of them, experts).
struct PackedWeight {
  const TypeInfo* info = nullptr;
  uint32_t num_columns = 0;  // K
  uint32_t num_rows = 0;     // N
  uint32_t num_matrices = 0;
  uint32_t num_panels = 0;  // of one matrix
  uint64_t panel_bytes = 0;
  HostMemory memory;

  void set_shape(const TypeInfo* type, uint32_t columns, uint32_t rows, uint32_t matrices);
  uint64_t size_bytes() const { return panel_bytes * num_panels * num_matrices; }
  bool quantized() const { return info->format < kNumQuantFormats; }
  uint32_t num_blocks() const { return num_columns / kBlock; }
  const uint8_t* panel(uint32_t matrix, uint32_t index) const {
    return memory.data() + (static_cast<uint64_t>(matrix) * num_panels + index) * panel_bytes;
  }
  // Packs panels [begin, end) counted over all matrices, from the tensor's bytes in GGUF order. Rows beyond num_rows become
  // zero.
  void pack(const uint8_t* tensor, uint64_t begin, uint64_t end) const;
  // Row `row` of matrix 0 in f32: code times scale, plus min.
  void row_to_float(uint32_t row, float* out) const;
};

}  // namespace gainz::onednn
