// Replaces operator new of the whole program, the runtime and the plugins included: counts calls, and can let one fail. For
// test programs of their own; included once. Threads: any.
#pragma once

// GCC 12 sees malloc's memory given to free through the replaced operators and takes it for a mistake.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace gainz::test {

inline std::atomic<uint64_t> num_new{0};      // calls so far
inline std::atomic<uint64_t> failing_new{0};  // the call that fails, counted from 1; 0: none
inline std::atomic<uint64_t> num_failed_new{0};

inline void* counted_new(std::size_t size_bytes, std::size_t alignment) noexcept {
  const uint64_t number = num_new.fetch_add(1) + 1;
  if (failing_new.load() == number) {
    num_failed_new.fetch_add(1);
    return nullptr;
  }
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size_bytes ? size_bytes : 1);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size_bytes ? size_bytes : 1) == 0 ? memory : nullptr;
}
inline void* counted_new_or_throw(std::size_t size_bytes, std::size_t alignment) {
  void* memory = counted_new(size_bytes, alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace gainz::test

#define GAINZ_EXPORT __attribute__((visibility("default")))
GAINZ_EXPORT void* operator new(std::size_t n) { return gainz::test::counted_new_or_throw(n, 1); }
GAINZ_EXPORT void* operator new[](std::size_t n) { return gainz::test::counted_new_or_throw(n, 1); }
GAINZ_EXPORT void* operator new(std::size_t n, std::align_val_t a) {
  return gainz::test::counted_new_or_throw(n, std::size_t(a));
}
GAINZ_EXPORT void* operator new[](std::size_t n, std::align_val_t a) {
  return gainz::test::counted_new_or_throw(n, std::size_t(a));
}
GAINZ_EXPORT void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return gainz::test::counted_new(n, 1); }
GAINZ_EXPORT void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return gainz::test::counted_new(n, 1); }
GAINZ_EXPORT void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return gainz::test::counted_new(n, std::size_t(a));
}
GAINZ_EXPORT void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return gainz::test::counted_new(n, std::size_t(a));
}
GAINZ_EXPORT void operator delete(void* p) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete[](void* p) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete(void* p, std::size_t) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
GAINZ_EXPORT void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
