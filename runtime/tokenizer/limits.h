// Limits of the tokenizers: what a file's vocabulary and one call may ask for. Each has a test that crosses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gainz::tokenizer_limits {

inline constexpr uint64_t kMaxTokens = uint64_t{1} << 20;         // pieces in a vocabulary (the largest known: 2^18)
inline constexpr uint64_t kMaxMerges = uint64_t{1} << 20;         // merges of a byte-level BPE
inline constexpr uint64_t kMaxTokenBytes = 4096;                  // spelling of one piece (the longest known: a few hundred)
inline constexpr uint64_t kMaxCharsmapBytes = uint64_t{1} << 24;  // precompiled_charsmap (the largest known: 240 KB)
inline constexpr uint64_t kMaxTextBytes = uint64_t{1} << 26;      // text of one encode call
inline constexpr uint64_t kMaxDecodeTokens = uint64_t{1} << 26;   // ids of one decode call
inline constexpr uint64_t kMaxWordChars = 100;  // WordPiece: a longer word is the unknown piece, by its definition

struct Limit {
  std::string_view name;
  uint64_t value;
};

// All of the above, for programs that print them. Static storage.
std::span<const Limit> list();

}  // namespace gainz::tokenizer_limits
