// simple_compute.h: what a SimpleBackend's compute() works with: the step, its tensors, scratch and workers.
// Owner: the helper; valid during the call. Threads: the calling one, and the bodies of parallel_for.
#ifndef GAINZ_SDK_SIMPLE_COMPUTE_H
#define GAINZ_SDK_SIMPLE_COMPUTE_H

#include <atomic>
#include <cstdint>

#include "gainz/sdk/simple_node.h"

namespace gainz::reference {
struct KvLayer;
}

namespace gainz::sdk {

// What compute() works with. Activations are dense, row-major [rows, cols]. Valid during the call.
class Compute {
 public:
  const gainz_step& step() const { return *step_; }
  // T or R: the rows of the first output, or of the first input where there is no output.
  uint64_t rows() const { return rows_; }
  const float* input(uint32_t i) const {
    return node_->has_input(i) ? static_cast<const float*>(data_[node_->inputs[i]]) : nullptr;
  }
  const int32_t* input_ids(uint32_t i) const { return static_cast<const int32_t*>(data_[node_->inputs[i]]); }
  Weight weight(uint32_t i) const;
  float* output(uint32_t i) const { return static_cast<float*>(data_[node_->outputs[i]]); }
  int32_t* output_ids(uint32_t i) const { return static_cast<int32_t*>(data_[node_->outputs[i]]); }

  // Of the page group of a KV_WRITE or ATTENTION: the step's slots and table, and the layer's pages.
  gainz_step_pages pages() const;
  reference::KvLayer kv() const;

  // The bytes that scratch_bytes() asked for, a piece for each worker, 64-byte aligned.
  void* scratch(uint32_t worker) const { return scratch_ + worker * scratch_stride_; }
  uint32_t num_workers() const { return num_workers_; }

  // f(begin, end, worker) over [0, count) in runs of `grain`; see gainz_host.parallel_for. An exception of f comes out of here.
  template <class F>
  void parallel_for(uint64_t count, uint64_t grain, F f) const {
    if (count == 0) return;
    if (count <= grain) return f(uint64_t{0}, count, uint32_t{0});
    struct Job {
      F* f;
      std::atomic<bool> failed{false};
    } job{&f};
    parallel_raw(
        count, grain,
        [](void* arg, uint64_t begin, uint64_t end, uint32_t worker) {
          auto* j = static_cast<Job*>(arg);
          try {
            (*j->f)(begin, end, worker);
          } catch (...) {
            j->failed.store(true);
          }
        },
        &job);
    if (job.failed.load()) throw_failed();
  }

 private:
  friend class ProgramRunner;
  void parallel_raw(uint64_t count, uint64_t grain, gainz_parallel_body body, void* arg) const;
  [[noreturn]] static void throw_failed();

  const Node* node_ = nullptr;
  const gainz_step* step_ = nullptr;
  const gainz_host* host_ = nullptr;
  void* const* data_ = nullptr;                    // [num_values]
  const reference::KvLayer* kv_layers_ = nullptr;  // [num_nodes]
  char* scratch_ = nullptr;
  uint64_t scratch_stride_ = 0;
  uint64_t rows_ = 0;
  uint32_t num_workers_ = 1;
};

}  // namespace gainz::sdk

#endif
