// Small helpers: status and struct reading are the SDK helper's (sdk/simple), arrays travel with a stride.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gainz/sdk/sdk.h"
#include "simple/border.h"

namespace gainz::vulkan {

using sdk::failure;
using sdk::Status;

inline constexpr uint32_t kNone = UINT32_MAX;

template <class T>
const T& at_stride(const T* first, uint64_t stride, uint64_t i) {
  return *reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(first) + stride * i);
}

inline uint64_t round_up(uint64_t n, uint64_t multiple) { return (n + multiple - 1) / multiple * multiple; }
inline uint64_t parts_of(uint64_t n, uint64_t size) { return (n + size - 1) / size; }
// Counts in messages: %llu wants this type.
inline unsigned long long wide(uint64_t n) { return n; }

}  // namespace gainz::vulkan
