// SHA-256 of files (FIPS 180-4), so that a fetched model is known to be the one meant. One thread at a time per object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace gainz::host {

class Sha256 {
 public:
  void add(const void* bytes, size_t num_bytes);
  std::string hex();  // 64 digits; ends the hash

 private:
  void compress(const uint8_t* block, size_t num_blocks);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> tail_{};
  size_t tail_bytes_ = 0;
  uint64_t total_bytes_ = 0;
};

// progress(fraction) may be empty; false from it stops with a failure.
Result<std::string> sha256_of_file(const std::string& path, const std::function<bool(double)>& progress);

}  // namespace gainz::host
