// UTF-8 without trust: what is a character, what is broken, and repair. Pure functions, any thread.
// Source: The Unicode Standard, table 3-7 (well-formed byte sequences) and the "maximal subpart" practice of section 3.9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gainz::utf8 {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Step {
  uint32_t code_point = 0;  // of a valid character
  uint8_t num_bytes = 0;    // of the character; of a broken one, its maximal subpart (at least 1)
  bool valid = false;
  bool truncated = false;  // not valid, but the text ends before it could be known to be broken
};

// The first character of `text`, which must not be empty.
Step decode(std::string_view text);

bool is_valid(std::string_view text);

// Bytes of the longest valid beginning.
size_t valid_prefix(std::string_view text);

void append(std::string& out, uint32_t code_point);

// Every maximal broken part becomes one U+FFFD.
std::string repair(std::string_view text);

}  // namespace gainz::utf8
