// The engine's clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace gainz {

inline uint64_t now_us() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}
// The same with its fractions, for short times.
inline double now_fine_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace gainz
