#include "conform/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace gainz::conform {

Guarded::Guarded(size_t num_bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  mapped_ = (num_bytes + page - 1) / page * page + page;
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<char*>(memory);
  mprotect(base_ + mapped_ - page, page, PROT_NONE);
  data_ = base_ + mapped_ - page - num_bytes;
}

Guarded::~Guarded() { munmap(base_, mapped_); }

}  // namespace gainz::conform
