// Kv: the pages of one kv_create, in the layout that the attention kernels read (kernels.h), and their canonical form.
//
// Per group, layer and side (K, V): [kv head][page][head bytes], so that the pages that a sequence took one after the other are
// one run of memory for each head. Keys are stored with the tokens of a page side by side, so that a vector is 16 positions of
// one dimension. Owner: the device. Threads: [device-thread]; different slots may be written at once.
#pragma once

#include <vector>

#include "kernels/kernels.h"
#include "simple/graph.h"
#include "support.h"

namespace gainz::onednn {

class Kv {
 public:
  struct Group {
    gainz_page_group shape{};
    uint32_t num_pages = 0;
    uint64_t k_head_bytes = 0, v_head_bytes = 0;  // of a page
    std::vector<uint8_t*> k, v;                   // [num_layers] page 0 of head 0
    HostMemory memory;
    uint8_t* k_at(uint32_t layer, uint32_t head, uint64_t page) const {
      return k[layer] + (uint64_t{head} * num_pages + page) * k_head_bytes;
    }
    uint8_t* v_at(uint32_t layer, uint32_t head, uint64_t page) const {
      return v[layer] + (uint64_t{head} * num_pages + page) * v_head_bytes;
    }
  };

  Status create(const Host& host, const sdk::Graph& graph, const gainz_kv_desc& desc);
  Status copy_pages(uint32_t group, const gainz_page_copy* copies, uint32_t num_copies);
  Status export_page(uint32_t group, uint32_t page, uint8_t* out, uint64_t num_bytes) const;
  Status import_page(uint32_t group, uint32_t page, const uint8_t* in, uint64_t num_bytes);

  // Stores one token's k[Hkv * Dk] and v[Hkv * Dv] at `slot`.
  void write(const Kernels& kernels, uint32_t group, uint32_t layer, uint32_t slot, const float* k, const float* v);

  const std::vector<Group>& groups() const { return groups_; }
  uint32_t k_type() const { return k_type_; }  // KvType
  uint32_t v_type() const { return v_type_; }

 private:
  Status check_page(uint32_t group, uint32_t page, uint64_t num_bytes) const;
  std::vector<Group> groups_;
  uint32_t k_type_ = 0, v_type_ = 0;          // KvType
  uint32_t k_sdk_type_ = 0, v_sdk_type_ = 0;  // GAINZ_TYPE_*
};

// Of a GAINZ_TYPE_*; kNumKvTypes: not one.
uint32_t kv_type_of(uint32_t type);

}  // namespace gainz::onednn
