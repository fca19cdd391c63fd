// DnnLinear: products with one F32 weight by oneDNN, in shapes whose bits do not depend on the batch.
//
// Every call multiplies one tile of exactly kDnnTile rows (missing ones are zero) with one slice of the weight's panels, so
// that a row meets the same primitive whatever stands beside it; tests/plugins/onednn/dnn_test.cc shows that neither its place
// in the tile nor its neighbours change its bits. The panels are oneDNN's BA16a16b blocks as they stand.
//
// oneDNN 2.6's runtime is OpenMP. A call here sets the calling thread to one OpenMP thread and back, so none is ever started.
// Without oneDNN in the build make() gives NULL, and the kernels in dense.h do the work. Threads: run() of different workers
// may run at once.
#pragma once

#include <cstdint>
#include <memory>

namespace gainz::onednn {

inline constexpr uint32_t kDnnTile = 16;
inline constexpr uint32_t kDnnSlicePanels = 16;

class DnnLinear {
 public:
  // NULL: not built with oneDNN, or it has no such primitive here.
  static std::unique_ptr<DnnLinear> make(uint32_t num_columns, uint32_t num_panels, uint32_t num_workers);
  ~DnnLinear();

  // The worker's tile of activations [kDnnTile, columns rounded up to 16] and, after run, of results [kDnnTile, 16 * panels of
  // the slice].
  float* tile(uint32_t worker) const;
  uint64_t tile_stride() const;
  // False: the primitive failed. `panels` is where the slice's panels begin.
  bool run(uint32_t worker, uint32_t slice, const uint8_t* panels) const;
  const float* result(uint32_t worker) const;
  uint64_t result_stride(uint32_t slice) const;

  // "2.6.3"; empty without oneDNN.
  static const char* version();

 private:
  struct Impl;
  explicit DnnLinear(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gainz::onednn
