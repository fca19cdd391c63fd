#include "memory.h"

#include <cstring>

#include "gainz/sdk/ext_zeroed.h"

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
  const auto* zeroed = static_cast<const gainz_zeroed*>(
      host.get_extension ? host.get_extension(host.ctx, GAINZ_EXT_ZEROED, GAINZ_EXT_ZEROED_REVISION) : nullptr);
  void* memory =
      zeroed ? zeroed->allocate(zeroed->ctx, bytes, kMemoryAlignment) : host.allocate(host.ctx, bytes, kMemoryAlignment);
  if (memory == nullptr) {
    return failure(GAINZ_STATUS_OUT_OF_HOST_MEMORY, "%s needs %llu bytes and the host gives none", what,
                   static_cast<unsigned long long>(bytes));
  }
  // Zeroed, so that no page that is exported half full carries what was in memory before.
  if (!zeroed) std::memset(memory, 0, bytes);
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
