#include "base/services.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace gainz {
namespace {

bool is_zero(const void* memory, size_t num_bytes) {
  const auto* bytes = static_cast<const unsigned char*>(memory);
  return std::all_of(bytes, bytes + num_bytes, [](unsigned char b) { return b == 0; });
}

TEST(services, memory_of_every_size_is_aligned_and_zero_where_asked) {
  const Services services;
  for (const size_t size :
       {size_t{1}, size_t{4095}, size_t{1} << 20, (size_t{4} << 20) - 1, size_t{4} << 20, (size_t{7} << 20) + 13}) {
    for (const size_t alignment : {size_t{16}, size_t{64}, size_t{4096}, size_t{4} << 20}) {
      for (int round = 0; round < 2; ++round) {  // the second time what was written before
        void* memory = services.allocate_zeroed(size, alignment);
        ASSERT_NE(memory, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u) << size;
        EXPECT_TRUE(is_zero(memory, size)) << size;
        std::memset(memory, 0xAB, size);
        services.release(memory, size, alignment);
      }
    }
  }
  EXPECT_EQ(services.allocate(SIZE_MAX - 5, 64), nullptr);
  services.release(nullptr, 5, 64);
}

TEST(services, a_hosts_allocator_is_cleared_after) {
  Services services;
  services.allocate_hook = [](void*, size_t size, size_t alignment) -> void* {
    void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory) std::memset(memory, 0xCD, size);
    return memory;
  };
  services.release_hook = [](void*, void* memory, size_t, size_t) { std::free(memory); };
  for (const size_t size : {size_t{100}, size_t{5} << 20}) {
    void* memory = services.allocate_zeroed(size, 64);
    EXPECT_TRUE(is_zero(memory, size));
    services.release(memory, size, 64);
  }
}

}  // namespace
}  // namespace gainz
