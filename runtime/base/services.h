// Services: what the embedding program lends to every part of one runtime: memory, a log line, workers. Nothing here is global.
//
// Owner: the runtime; outlives everything that holds a reference. Threads: allocate, release and log from any; parallel_for as
// ThreadPool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/thread_pool.h"

namespace gainz {

enum class LogLevel : uint32_t { error = 0, warning = 1, info = 2, debug = 3 };

struct Services {
  void* hook_ctx = nullptr;
  void* (*allocate_hook)(void*, size_t size_bytes, size_t alignment) = nullptr;
  void (*release_hook)(void*, void*, size_t size_bytes, size_t alignment) = nullptr;
  void (*log_hook)(void*, uint32_t level, const char* text) = nullptr;
  void (*parallel_hook)(void*, uint64_t count, uint64_t grain, ThreadPool::Body body, void* arg) = nullptr;
  uint32_t num_threads = 1;
  std::unique_ptr<ThreadPool> pool;

  void* allocate(size_t size_bytes, size_t alignment) const;         // nullptr when there is none; alignment: a power of two
  void* allocate_zeroed(size_t size_bytes, size_t alignment) const;  // the same, every byte 0; large blocks are not touched
  void release(void* memory, size_t size_bytes, size_t alignment) const;
  void log(LogLevel level, const std::string& text) const;
  void parallel_for(uint64_t count, uint64_t grain, ThreadPool::Body body, void* arg) const;
};

// A block of memory from Services, freed with it.
class Memory {
 public:
  Memory() = default;
  static Result<Memory> create(const Services& services, size_t size_bytes, size_t alignment = 64);
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory();
  void* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  template <class T>
  std::span<T> as() const {
    return {static_cast<T*>(data_), size_bytes_ / sizeof(T)};
  }

 private:
  void swap(Memory& other) noexcept {
    std::swap(services_, other.services_);
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(alignment_, other.alignment_);
  }
  const Services* services_ = nullptr;
  void* data_ = nullptr;
  size_t size_bytes_ = 0;
  size_t alignment_ = 0;
};

}  // namespace gainz
