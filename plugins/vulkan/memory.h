// Memory: blocks of device memory, each under one buffer, handed out in ranges. Owner: the opened device; every Range goes
// before it. Threads: [device-thread].
#pragma once

#include <list>
#include <map>
#include <memory>

#include "context.h"

namespace gainz::vulkan {

enum class MemoryKind : uint32_t {
  kDevice,    // weights, pages, activations: device-local
  kUpload,    // the host writes, shaders read
  kReadback,  // shaders write, the host reads
};

class Memory;

// A piece of a block; given back on destruction.
class Range {
 public:
  Range() = default;
  ~Range() { reset(); }
  Range(Range&& other) noexcept { *this = std::move(other); }
  Range& operator=(Range&& other) noexcept;
  void reset();

  VkBuffer buffer() const { return buffer_; }
  uint64_t offset() const { return offset_; }
  uint64_t size() const { return size_; }
  uint8_t* mapped() const { return mapped_; }  // NULL where the host cannot reach it

 private:
  friend class Memory;
  Memory* owner_ = nullptr;
  void* block_ = nullptr;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  uint64_t offset_ = 0, size_ = 0;
  uint8_t* mapped_ = nullptr;
};

class Memory {
 public:
  explicit Memory(Context& context) : context_(context) {}
  ~Memory();
  Memory(const Memory&) = delete;

  // At least `bytes` bytes at a multiple of the context's offset alignment. OUT_OF_DEVICE_MEMORY names `what`, the size and
  // what is left of the limit.
  Status allocate(MemoryKind kind, uint64_t bytes, const char* what, Range* out);
  uint64_t live_bytes() const { return live_bytes_; }

  // Copies between host memory and a range, through a staging buffer where it is not mapped. Waits for the queue.
  Status write(const Range& range, uint64_t offset, const void* data, uint64_t bytes);
  Status read(const Range& range, uint64_t offset, void* data, uint64_t bytes);
  // Fills a range with zeros, in the queue's order; waits.
  Status clear(const Range& range);

 private:
  friend class Range;
  struct Block {
    MemoryKind kind{};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t size = 0;
    uint8_t* mapped = nullptr;
    std::map<uint64_t, uint64_t> free;  // offset to size
  };
  Status add_block(MemoryKind kind, uint64_t bytes, const char* what, Block** out);
  void destroy(Block& block);
  void give_back(Block& block, uint64_t offset, uint64_t size);
  Status pick_type(MemoryKind kind, uint32_t allowed, uint32_t* out_type) const;
  Status prepare_transfer();
  template <class Record>
  Status transfer(Record record);

  Context& context_;
  std::list<Block> blocks_;
  uint64_t live_bytes_ = 0;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  Range staging_;
};

}  // namespace gainz::vulkan
