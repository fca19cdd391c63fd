// Weights: the tensors of a model file as the gainz_weights table that a plugin pulls them through.
//
// Owner: the load of a model, for one model_create; the file outlives it. Threads: any, as the table says. Bytes that a plugin
// has released go back to the system where the file is mapped; they are read again if somebody looks.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "gainz/sdk/sdk.h"
#include "gguf/gguf.h"

namespace gainz {

// Says how far the packing is, over all parts of a model. progress returns false to stop.
class PackingProgress {
 public:
  PackingProgress(const std::function<bool(const char* stage, double fraction)>& progress, uint64_t total_bytes)
      : progress_(progress), total_bytes_(total_bytes) {}
  bool report(uint64_t done_bytes);  // of the present part; false: stop
  void part_done(uint64_t num_bytes) { before_bytes_ += num_bytes; }
  bool is_stopped() const { return is_stopped_; }

 private:
  const std::function<bool(const char* stage, double fraction)>& progress_;
  uint64_t total_bytes_, before_bytes_ = 0;
  std::mutex mutex_;
  bool is_stopped_ = false;
};

class Weights {
 public:
  // tensors[num_values]: of the graph that is handed over; null where a value is no weight.
  Weights(std::vector<const GgufTensor*> tensors, bool is_mapped, PackingProgress& progress);
  const gainz_weights* table() const { return &table_; }
  uint64_t total_bytes() const;

 private:
  static gainz_status map(void* ctx, uint32_t value, const void** out_bytes, uint64_t* out_num_bytes, gainz_error* error);
  static void release(void* ctx, uint32_t value);
  static int32_t report(void* ctx, uint64_t done_bytes, uint64_t total_bytes);

  std::vector<const GgufTensor*> tensors_;
  bool is_mapped_;
  PackingProgress& progress_;
  gainz_weights table_{};
};

}  // namespace gainz
