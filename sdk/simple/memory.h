// memory.h: memory of the host's allocator, given back on destruction. Owner: whoever holds it; the host must outlive it.
#ifndef GAINZ_SDK_SIMPLE_MEMORY_H
#define GAINZ_SDK_SIMPLE_MEMORY_H

#include <cstdint>
#include <utility>

#include "gainz/sdk/simple_backend.h"

namespace gainz::sdk {

inline constexpr uint64_t kMemoryAlignment = 64;

class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory() { reset(); }
  HostMemory(HostMemory&& other) noexcept { *this = std::move(other); }
  HostMemory& operator=(HostMemory&& other) noexcept;

  // `bytes` zeroed bytes, 64-byte aligned, in place of what was held. OUT_OF_HOST_MEMORY names `what` and the size. 0 bytes is
  // NULL.
  Status allocate(const gainz_host& host, uint64_t bytes, const char* what);
  void reset();
  uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  const gainz_host* host_ = nullptr;
  uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace gainz::sdk

#endif
