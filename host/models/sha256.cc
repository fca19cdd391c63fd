#include "models/sha256.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/text.h"

namespace gainz::host {
namespace {

// FIPS 180-4, 4.2.2.
constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void Sha256::compress(const uint8_t* block, size_t num_blocks) {
  for (; num_blocks > 0; --num_blocks, block += 64) {
    uint32_t w[64];
    for (int t = 0; t < 16; ++t) {
      w[t] =
          uint32_t{block[4 * t]} << 24 | uint32_t{block[4 * t + 1]} << 16 | uint32_t{block[4 * t + 2]} << 8 | block[4 * t + 3];
    }
    for (int t = 16; t < 64; ++t) {
      const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
      const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int t = 0; t < 64; ++t) {
      const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRound[t] + w[t];
      const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t add[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state_[i] += add[i];
  }
}

void Sha256::add(const void* bytes, size_t num_bytes) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  total_bytes_ += num_bytes;
  if (tail_bytes_ > 0) {
    const size_t take = std::min(num_bytes, tail_.size() - tail_bytes_);
    std::memcpy(tail_.data() + tail_bytes_, at, take);
    tail_bytes_ += take, at += take, num_bytes -= take;
    if (tail_bytes_ < tail_.size()) return;
    compress(tail_.data(), 1);
    tail_bytes_ = 0;
  }
  compress(at, num_bytes / 64);
  tail_bytes_ = num_bytes % 64;
  if (tail_bytes_ > 0) std::memcpy(tail_.data(), at + num_bytes - tail_bytes_, tail_bytes_);
}

std::string Sha256::hex() {
  const uint64_t num_bits = total_bytes_ * 8;
  uint8_t padding[72] = {0x80};
  const size_t zeros_end = (tail_bytes_ < 56 ? 56 : 120) - tail_bytes_;
  for (size_t i = 0; i < 8; ++i) padding[zeros_end + i] = static_cast<uint8_t>(num_bits >> (56 - 8 * i));
  add(padding, zeros_end + 8);
  std::string text;
  for (const uint32_t word : state_) text += fmt::format("{:08x}", word);
  return text;
}

Result<std::string> sha256_of_file(const std::string& path, const std::function<bool(double)>& progress) {
  const auto fail = [&](const char* reason) { return Failure{fmt::format("{}: {}", printable(path), reason)}; };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return fail(std::strerror(errno));
  struct stat info {};
  fstat(file, &info);
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  uint64_t done_bytes = 0;
  for (;;) {
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const int reason = errno;
      close(file);
      if (got < 0) return fail(std::strerror(reason));
      return hash.hex();
    }
    hash.add(buffer.data(), static_cast<size_t>(got));
    done_bytes += static_cast<uint64_t>(got);
    if (progress && !progress(info.st_size > 0 ? static_cast<double>(done_bytes) / static_cast<double>(info.st_size) : 0)) {
      close(file);
      return fail("stopped while it was read");
    }
  }
}

}  // namespace gainz::host
