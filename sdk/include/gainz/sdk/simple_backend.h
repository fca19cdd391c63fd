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

#include <cstdint>
#include <memory>
#include <string_view>

#include "gainz/sdk/simple_compute.h"

namespace gainz::sdk {

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
