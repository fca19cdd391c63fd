// handles.h: what the opaque handles of the ABI are here. Owner: gainz_device owns all others; close frees them.
#ifndef GAINZ_SDK_SIMPLE_HANDLES_H
#define GAINZ_SDK_SIMPLE_HANDLES_H

#include <atomic>
#include <memory>
#include <vector>

#include "graph.h"
#include "memory.h"
#include "reference/kv.h"

struct gainz_model {
  gainz::sdk::Graph graph;
  std::vector<const void*> weights;            // [num_values] NULL for what is no weight; the host's bytes or one of `copies`
  std::vector<gainz::sdk::HostMemory> copies;  // of f32 weights that the file leaves unaligned
  uint64_t weight_bytes = 0;
};

struct gainz_kv {
  gainz_model* model = nullptr;
  uint32_t k_type = 0;
  uint32_t v_type = 0;
  std::vector<uint32_t> num_pages;            // [num_groups]
  std::vector<uint64_t> page_bytes;           // [num_groups]
  std::vector<gainz::sdk::HostMemory> pages;  // [num_groups] canonical layout, page after page
  std::vector<std::vector<uint8_t>> marks;    // [num_groups][num_pages] used and cleared by kv_copy_pages
};

struct gainz_program {
  gainz_model* model = nullptr;
  gainz_kv* kv = nullptr;  // NULL only where the graph has no KV node
  gainz_bucket bucket{};
  gainz::sdk::HostMemory memory;                     // activations, then a piece of scratch for each worker
  std::vector<void*> data;                           // [num_values] of activations and weights
  std::vector<gainz::reference::KvLayer> kv_layers;  // [num_nodes] set where the node touches pages
  std::vector<uint32_t> slice_begin;                 // [num_slices + 1] nodes
  std::vector<uint32_t> slice_cost;                  // [num_slices]
  std::vector<uint8_t> checked_groups;               // [num_groups] 0: no node uses it, 1: written, 2: read too
  std::vector<uint32_t> checked_nodes;               // nodes that read tokens, masks or ids of a step
  char* scratch = nullptr;
  uint64_t scratch_stride = 0;
  uint32_t num_workers = 1;
  uint32_t next_slice = 0;  // of the step under way; 0: none is
  gainz_step step{};        // the counts of the step under way
};

struct gainz_device {
  gainz_host host{};
  gainz::sdk::PluginInfo info;
  std::unique_ptr<gainz::sdk::SimpleBackend> backend;
  std::atomic<uint64_t> last_ticket{0};
  std::vector<std::unique_ptr<gainz_model>> models;
  std::vector<std::unique_ptr<gainz_kv>> kvs;
  std::vector<std::unique_ptr<gainz_program>> programs;
};

namespace gainz::sdk {

inline constexpr uint32_t kKvTypes =
    (1u << GAINZ_TYPE_F32) | (1u << GAINZ_TYPE_F16) | (1u << GAINZ_TYPE_Q8_0) | (1u << GAINZ_TYPE_BF16);

// The handle among those that the device owns, or end.
template <class T>
auto find_handle(std::vector<std::unique_ptr<T>>& owned, const T* handle) {
  auto it = owned.begin();
  while (it != owned.end() && it->get() != handle) ++it;
  return it;
}
template <class T>
bool owns(std::vector<std::unique_ptr<T>>& owned, const T* handle) {
  return find_handle(owned, handle) != owned.end();
}

// model.cc [device-thread]
Status claim(const gainz_device& device, const gainz_graph* graph, uint8_t* out_claims);
Status create_model(gainz_device& device, const gainz_graph* graph, const gainz_weights* weights, gainz_model** out_model);

// kv_store.cc [device-thread]
Status create_kv(gainz_device& device, gainz_model* model, const gainz_kv_desc* desc, gainz_kv** out_kv);
Status copy_pages(gainz_kv& kv, uint32_t group, const gainz_page_copy* copies, uint32_t num_copies);
// The page's bytes, after `num_bytes` and the numbers have been checked.
Status find_page(const gainz_kv& kv, uint32_t group, uint32_t page, const void* bytes, uint64_t num_bytes, uint8_t** out_page);

// program.cc [device-thread]
Status create_program(gainz_device& device, gainz_model* model, gainz_kv* kv, const gainz_bucket* bucket,
                      gainz_program** out_program);
Status run_slices(gainz_device& device, gainz_program& program, const gainz_step* step, uint32_t first_slice,
                  uint32_t num_slices);

// check_step.cc: that a step is within its bucket and that every number in it points into something. INVALID with a sentence.
Status check_step(const gainz_program& program, const gainz_step& step);

}  // namespace gainz::sdk

#endif
