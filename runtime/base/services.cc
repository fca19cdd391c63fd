#include "base/services.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

namespace gainz {

namespace {

// KV pages and large weights are read in pieces of a few kilobytes from everywhere: with memory pages of 4 KiB the walks
// through the page tables cost more than the reads. Large blocks ask for huge ones; the system may not have them.
constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kLeastHugeBytes = 2 * kHugePageBytes;

size_t mapped_bytes(size_t size_bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (size_bytes + page - 1) / page * page;
}

bool is_large(size_t size_bytes) { return size_bytes >= kLeastHugeBytes; }

// Straight from the system, where it is zero and not yet anywhere: pages of a KV cache that nobody uses cost nothing.
void* map_large(size_t size_bytes, size_t alignment) {
  alignment = std::max(alignment, kHugePageBytes);
  if (size_bytes > SIZE_MAX - 2 * alignment) return nullptr;
  const size_t mapped = size_bytes + alignment;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + alignment - 1) / alignment * alignment, end = first + mapped_bytes(size_bytes);
  if (first > begin) munmap(memory, first - begin);
  if (end < begin + mapped) munmap(reinterpret_cast<void*>(end), begin + mapped - end);
  void* block = reinterpret_cast<void*>(first);
  madvise(block, size_bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
  return block;
}

}  // namespace

void* Services::allocate(size_t size_bytes, size_t alignment) const {
  if (allocate_hook) return allocate_hook(hook_ctx, size_bytes, alignment);
  if (is_large(size_bytes)) return map_large(size_bytes, alignment);
  return ::operator new(size_bytes, std::align_val_t(alignment), std::nothrow);
}

void* Services::allocate_zeroed(size_t size_bytes, size_t alignment) const {
  void* memory = allocate(size_bytes, alignment);
  if (memory && (allocate_hook || !is_large(size_bytes))) std::memset(memory, 0, size_bytes);
  return memory;
}

void Services::release(void* memory, size_t size_bytes, size_t alignment) const {
  if (!memory) return;
  if (allocate_hook) {
    if (release_hook) release_hook(hook_ctx, memory, size_bytes, alignment);
    return;
  }
  if (is_large(size_bytes)) {
    munmap(memory, mapped_bytes(size_bytes));
    return;
  }
  ::operator delete(memory, std::align_val_t(alignment));
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
