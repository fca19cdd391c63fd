// Model: a file's weights on a device, its pages and its program: what turns a step's arrays into logits.
//
// Before: Batch (engine) lays out the step. After: the Device's plugin runs it; Sampler reads the logits.
//
// The graph is cut where the backend does not claim a node (docs/architecture.md): each part runs on the backend or
// on the scalar fallback, and what crosses a cut travels as f32 in host memory.
// Owner: the Engine. Threads: load on any thread; everything else from one at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/services.h"
#include "device/plugin_registry.h"
#include "gguf/gguf.h"
#include "model/graph.h"

namespace gainz {

struct ModelOptions {
  std::string path;
  bool use_mmap = true;
  std::string backend = "auto";    // a plugin's name, or auto: onednn, then reference, then any other
  std::string fallback = "error";  // "error" | "scalar"
  DeviceOptions device_options;    // "isa", "prefill": only those that were set
  // 0: stop the load (Code::cancelled). fraction in [0, 1].
  std::function<bool(const char* stage, double fraction)> progress;
};

// What the file says of itself (hyperparameters), after checks.
struct ModelInfo {
  std::string architecture, name;
  uint32_t vocab_size = 0, context_length = 0, num_layers = 0, embedding_length = 0;
  uint64_t num_tensors = 0, num_parameters = 0, file_bytes = 0;
  uint64_t weight_bytes_per_token =
      0;  // file bytes of the weights read for one generated token (embedding table once if tied, else one row)
  uint64_t ops_per_token = 0;  // 2 * multiply-adds of the linear operations
  std::vector<gainz_page_group> page_groups;
};

// One step in host memory. All spans stay valid during run().
struct StepArrays {
  std::span<const int32_t> tokens, positions;              // [T]
  std::span<const uint8_t> phases;                         // [T]
  std::span<const uint32_t> query_offsets;                 // [S + 1]
  std::span<const uint32_t> context_lengths;               // [S]
  std::span<const uint32_t> output_rows;                   // [R]
  std::span<const std::span<const uint32_t>> slots;        // [groups][T]
  std::span<const std::span<const uint32_t>> page_tables;  // [groups][S * page_table_stride]
  uint64_t page_table_stride = 0;
  float* logits = nullptr;  // [R, vocab_size], or null: not wanted
  float* hidden = nullptr;  // [R, embedding_length] after the final norm, or null
};

class Model {
 public:
  // Opens the file, chooses a backend, builds the graph, packs the weights. Errors name file, key, tensor or backend and
  // reason.
  static Result<std::unique_ptr<Model>> load(const Services& services, PluginRegistry& plugins, const ModelOptions& options);
  virtual ~Model() = default;

  virtual const ModelInfo& info() const = 0;
  virtual std::shared_ptr<const Gguf> file() const = 0;
  virtual const DeviceInfo& device() const = 0;            // the backend's (not the fallback's)
  virtual uint32_t num_scalar_nodes() const = 0;           // nodes on the scalar fallback
  virtual uint64_t weight_bytes() const = 0;               // held on devices
  virtual bool supports_kv_type(uint32_t type) const = 0;  // by whoever owns the pages

  // Allocates the pages (scratch page 0 included in num_pages) and plans the program. Once.
  virtual Status prepare(uint32_t k_type, uint32_t v_type, std::span<const uint32_t> num_pages, const gainz_bucket& bucket) = 0;
  virtual Status copy_pages(uint32_t group, std::span<const gainz_page_copy> copies) = 0;

  // A step in slices: begin() checks and keeps the arrays; advance() runs the next slice and waits for it; true when the step
  // is done. After an error, or to drop a step, begin() the next one. Nothing is allocated.
  virtual Status begin(const StepArrays& step) = 0;
  virtual Result<bool> advance() = 0;
  virtual uint32_t num_slices() const = 0;
};

}  // namespace gainz
