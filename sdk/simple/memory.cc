#include "memory.h"

#include <cstring>

namespace gainz::sdk {

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  host_ = std::exchange(other.host_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

Status HostMemory::allocate(const gainz_host& host, uint64_t bytes, const char* what) {
  reset();
  if (bytes == 0) return {};
  void* memory = host.allocate(host.ctx, bytes, kMemoryAlignment);
  if (memory == nullptr) {
    return failure(GAINZ_STATUS_OUT_OF_HOST_MEMORY, "%s needs %llu bytes and the host gives none", what,
                   static_cast<unsigned long long>(bytes));
  }
  // Zeroed, so that no page that is exported half full carries what was in memory before.
  std::memset(memory, 0, bytes);
  host_ = &host;
  data_ = static_cast<uint8_t*>(memory);
  size_ = bytes;
  return {};
}

void HostMemory::reset() {
  if (data_ != nullptr) host_->release(host_->ctx, data_, size_, kMemoryAlignment);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace gainz::sdk
