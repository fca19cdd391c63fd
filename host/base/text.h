// Small text work of the program: showing bytes that may be anything, numbers from text, sizes and times for people, near
// spellings. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gainz::host {

// For a terminal or a message: control characters and bytes that are not UTF-8 become \xNN, so that a file's name or metadata
// can neither move the cursor nor break a line.
std::string printable(std::string_view text);
// For JSON: each byte that is not part of valid UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view text);

// The whole text must be the number; no spaces, no leading plus. Not finite: nothing.
std::optional<int64_t> parse_integer(std::string_view text);
std::optional<uint64_t> parse_unsigned(std::string_view text);
std::optional<double> parse_number(std::string_view text);

std::string format_bytes(uint64_t num_bytes);  // "98.4 MB", powers of 1000
std::string format_seconds(double seconds);    // "35 ms", "1.24 s", "3 min 05 s"
std::string format_number(double value);       // at most three decimals, no trailing zeros
std::string format_count(uint64_t count);      // "134,515,008"

// The candidate within two edits (insert, delete, replace, swap) and less than half the word's length; empty if there is none.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace gainz::host
