// Kv: the pages of one kv_create on the device, and their canonical form.
//
// Each side (K, V) of each layer of a group is a range of its own: page after page, a page [16 tokens, heads], a head's row
// whole words (shaders/kv.glsl). Owner: the opened device. Threads: [device-thread].
#pragma once

#include "memory.h"
#include "simple/graph.h"

namespace gainz::vulkan {

// kKv* of kv.glsl; kNumKvTypes for a type that pages do not have.
enum KvType : uint32_t { kKvF32, kKvF16, kKvQ8, kNumKvTypes };
KvType kv_type_of(uint32_t type);
uint64_t kv_row_words(KvType type, uint64_t dim);

class Kv {
 public:
  struct Side {
    KvType type = kKvF32;
    uint32_t sdk_type = 0, dim = 0;
    uint64_t page_words = 0;
    std::vector<Range> layers;
  };
  struct Group {
    gainz_page_group shape{};
    uint32_t num_pages = 0;
    Side k, v;
  };

  Kv(Context& context, Memory& memory) : context_(context), memory_(memory) {}
  ~Kv();
  Status create(const sdk::Graph& graph, const gainz_kv_desc& desc);
  // Queued; what is recorded is kept until its ticket is done.
  Status copy_pages(uint32_t group, const gainz_page_copy* copies, uint32_t num_copies);
  Status export_page(uint32_t group, uint32_t page, uint8_t* out, uint64_t num_bytes);
  Status import_page(uint32_t group, uint32_t page, const uint8_t* in, uint64_t num_bytes);
  const std::vector<Group>& groups() const { return groups_; }

 private:
  struct Copies {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    uint64_t ticket = 0;
  };
  static constexpr uint32_t kNumCopies = 4;  // in the queue before copy_pages waits for the first
  Status check_page(uint32_t group, uint32_t page, uint64_t num_bytes) const;
  Status create_side(const gainz_page_group& shape, uint32_t num_pages, Side* side);
  Status begin_copies(const Copies& next);

  Context& context_;
  Memory& memory_;
  std::vector<Group> groups_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  Copies copies_[kNumCopies];
  uint32_t next_copies_ = 0;
  std::vector<uint32_t> words_;  // one side of a page
};

}  // namespace gainz::vulkan
