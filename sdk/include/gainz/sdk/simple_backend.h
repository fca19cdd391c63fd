// simple_backend.h: a whole plugin out of supports(node) and compute(node). Link gainz_simple_backend; C++20, no other library.
//
//   struct Mine : gainz::sdk::SimpleBackend {
//     static constexpr gainz::sdk::PluginInfo kInfo{.name = "mine", .version = "1.0", .identity = "mine 1.0"};
//     bool supports(const gainz::sdk::Node& node) const override { return node.op == GAINZ_OP_LINEAR; }
//     void compute(const gainz::sdk::Node& node, gainz::sdk::Compute& c) const override { ... }
//   };
//   GAINZ_SIMPLE_PLUGIN(Mine)
//
// The helper does the rest: one CPU device, claims (KV_WRITE and ATTENTION of a page group together), a deep copy of the graph,
// weights used in place, KV pages in the canonical layout, scratch planned in program_create, one slice a layer, the check of
// every step, and no exception across the border. supports() and compute() see only graphs and steps that have been checked:
// shapes fit, ids and slots are in range. Work is done inside run, on the host's threads.
#ifndef GAINZ_SDK_SIMPLE_BACKEND_H
#define GAINZ_SDK_SIMPLE_BACKEND_H

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gainz/sdk/sdk.h"

namespace gainz::reference {
struct KvLayer;
}

namespace gainz::sdk {

// A gainz_status and its sentence.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(gainz_status code, std::string text) : code_(code), text_(std::move(text)) {}
  bool ok() const { return code_ == GAINZ_STATUS_OK; }
  gainz_status code() const { return code_; }
  const std::string& text() const { return text_; }

 private:
  gainz_status code_ = GAINZ_STATUS_OK;
  std::string text_;
};

// A status with a sentence made as printf does, cut at 512 bytes.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
Status
failure(gainz_status code, const char* format, ...);

// Copies `text` into the caller's buffer, cut at a whole character. `error` may be NULL.
void write_error(gainz_error* error, std::string_view text) noexcept;

struct PluginInfo {
  const char* name = "";  // [a-z0-9_-]{1,31}
  const char* version = "0";
  const char* vendor = "";
  const char* device_name = "CPU";
  const char* isa = "scalar";
  const char* identity = "";  // everything that decides which bits a kernel computes
  uint32_t device_kind = GAINZ_DEVICE_CPU;
  uint32_t device_flags = GAINZ_DEVICE_SHARES_MEMORY;
};

struct Value {
  uint32_t kind = 0;  // GAINZ_VALUE_*
  uint32_t type = 0;
  uint32_t rows = 0;  // GAINZ_ROWS_*
  std::array<uint64_t, 4> dims{};
  std::string name;
  uint64_t cols() const { return dims[0]; }
};

union NodeAttributes {
  gainz_norm_attr norm;
  gainz_rope_attr rope;
  gainz_attention_attr attention;
  gainz_activation_attr activation;
  gainz_scale_attr scale;
  gainz_moe_route_attr moe_route;
  gainz_moe_linear_attr moe_linear;
  gainz_top_k_attr top_k;
};

struct Node {
  uint32_t op = 0;
  uint32_t index = 0;  // in the graph
  uint32_t layer = GAINZ_NO_VALUE;
  uint32_t num_inputs = 0;
  uint32_t num_outputs = 0;
  std::array<uint32_t, GAINZ_NODE_MAX_INPUTS> inputs{};
  std::array<uint32_t, GAINZ_NODE_MAX_OUTPUTS> outputs{};
  NodeAttributes attr{};
  const std::vector<Value>* values = nullptr;  // of the graph; owner: the graph

  bool has_input(uint32_t i) const { return i < num_inputs && inputs[i] != GAINZ_NO_VALUE; }
  const Value& input(uint32_t i) const { return (*values)[inputs[i]]; }  // has_input(i)
  const Value& output(uint32_t i) const { return (*values)[outputs[i]]; }
};

// A weight in the caller's hands: `count` matrices of `n` rows of `k` elements in blocks of `type`, packed, at any address
// unless `type` is F32 (then aligned for float).
struct Weight {
  uint32_t type = 0;
  const void* data = nullptr;
  uint64_t k = 0, n = 0, count = 0;
};

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

class SimpleBackend {
 public:
  virtual ~SimpleBackend() = default;
  // An option of device_open. Here: "isa" (a known instruction set; this helper's kernels have one level) and "prefill"
  // ("auto", "exact") are taken without effect, anything else is INVALID. [loading]
  virtual Status set_option(std::string_view key, std::string_view value);
  // Whether compute() does this node: op, types, sizes. Pure. [device-thread]
  virtual bool supports(const Node& node) const = 0;
  // Bytes of scratch for each worker that compute() needs for this node in steps of the bucket. [device-thread]
  virtual uint64_t scratch_bytes(const Node& node, const gainz_bucket& bucket) const;
  // Allocates nothing. What it throws becomes INTERNAL. [device-thread]
  virtual void compute(const Node& node, Compute& c) const = 0;
};

// The normative kernels as parts of such a backend: every op of ops.h over every type of types.h.
bool reference_supports(const Node& node);
uint64_t reference_scratch_bytes(const Node& node, const gainz_bucket& bucket);
void reference_compute(const Node& node, Compute& c);

// What GAINZ_SIMPLE_PLUGIN is made of.
using MakeBackend = std::unique_ptr<SimpleBackend> (*)();
using DeviceList = decltype(gainz_plugin::device_list);
using DeviceOpen = decltype(gainz_plugin::device_open);
gainz_status query_plugin(const PluginInfo& info, DeviceList list, DeviceOpen open, const gainz_host* host,
                          gainz_plugin* out_plugin, gainz_error* error) noexcept;
gainz_status list_device(const PluginInfo& info, const gainz_host* host, gainz_device_desc* out_devices, uint64_t stride,
                         uint32_t capacity, uint32_t* out_count, gainz_error* error) noexcept;
gainz_status open_device(const PluginInfo& info, MakeBackend make, const gainz_host* host, uint32_t index,
                         const gainz_option* options, uint64_t stride, uint32_t num_options, gainz_device_api* out_api,
                         gainz_device** out_device, gainz_error* error) noexcept;

// The query function of a backend class that has kInfo and a constructor without arguments.
template <class Backend>
gainz_status simple_query(const gainz_host* host, gainz_plugin* out_plugin, gainz_error* error) noexcept {
  return query_plugin(
      Backend::kInfo,
      [](const gainz_host* h, gainz_device_desc* out, uint64_t stride, uint32_t capacity, uint32_t* out_count, gainz_error* e) {
        return list_device(Backend::kInfo, h, out, stride, capacity, out_count, e);
      },
      [](const gainz_host* h, uint32_t index, const gainz_option* options, uint64_t stride, uint32_t num_options,
         gainz_device_api* out_api, gainz_device** out_device, gainz_error* e) {
        return open_device(
            Backend::kInfo, []() -> std::unique_ptr<SimpleBackend> { return std::make_unique<Backend>(); }, h, index, options,
            stride, num_options, out_api, out_device, e);
      },
      host, out_plugin, error);
}

}  // namespace gainz::sdk

// Exports the one symbol of a plugin; at the end of its main file, outside of any namespace.
#define GAINZ_SIMPLE_PLUGIN(Backend)                                                                               \
  extern "C" GAINZ_SDK_EXPORT gainz_status gainz_plugin_query_v0(const gainz_host* host, gainz_plugin* out_plugin, \
                                                                 gainz_error* error) {                             \
    return gainz::sdk::simple_query<Backend>(host, out_plugin, error);                                             \
  }

#endif
