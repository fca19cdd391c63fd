#include "base/services.h"

#include <algorithm>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gainz {

namespace {

// KV pages and large weights are read in pieces of a few kilobytes from everywhere: with memory pages of 4 KiB the walks
// through the page tables cost more than the reads. Large blocks ask for huge ones; the system may not have them.
constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kLeastHugeBytes = 2 * kHugePageBytes;

size_t real_alignment(size_t size_bytes, size_t alignment) {
  return size_bytes >= kLeastHugeBytes ? std::max(alignment, kHugePageBytes) : alignment;
}

}  // namespace

void* Services::allocate(size_t size_bytes, size_t alignment) const {
  if (allocate_hook) return allocate_hook(hook_ctx, size_bytes, alignment);
  void* memory = ::operator new(size_bytes, std::align_val_t(real_alignment(size_bytes, alignment)), std::nothrow);
#if defined(__linux__)
  if (memory && size_bytes >= kLeastHugeBytes) madvise(memory, size_bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void Services::release(void* memory, size_t size_bytes, size_t alignment) const {
  if (!memory) return;
  if (allocate_hook) {
    if (release_hook) release_hook(hook_ctx, memory, size_bytes, alignment);
    return;
  }
  ::operator delete(memory, std::align_val_t(real_alignment(size_bytes, alignment)));
}

void Services::log(LogLevel level, const std::string& text) const {
  if (log_hook) log_hook(hook_ctx, static_cast<uint32_t>(level), text.c_str());
}

void Services::parallel_for(uint64_t count, uint64_t grain, ThreadPool::Body body, void* arg) const {
  if (parallel_hook) return parallel_hook(hook_ctx, count, grain == 0 ? 1 : grain, body, arg);
  if (pool) return pool->parallel_for(count, grain, body, arg);
  if (count > 0) body(arg, 0, count, 0);
}

Result<Memory> Memory::create(const Services& services, size_t size_bytes, size_t alignment) {
  Memory memory;
  if (size_bytes == 0) return memory;
  memory.data_ = services.allocate(size_bytes, alignment);
  if (!memory.data_) return Status(Code::out_of_host_memory, "cannot allocate " + std::to_string(size_bytes) + " bytes");
  memory.services_ = &services;
  memory.size_bytes_ = size_bytes;
  memory.alignment_ = alignment;
  return memory;
}

Memory::~Memory() {
  if (services_) services_->release(data_, size_bytes_, alignment_);
}

}  // namespace gainz
