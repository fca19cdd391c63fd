// Small helpers for the reader's error sentences. Inside this folder only. Any thread.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace gainz {

// Text and whole numbers, one after the other.
template <class... Parts>
std::string joined(const Parts&... parts) {
  std::string out;
  const auto add = [&out](const auto& part) {
    if constexpr (std::integral<std::remove_cvref_t<decltype(part)>>) {
      out += std::to_string(part);
    } else {
      out += std::string_view(part);
    }
  };
  (add(parts), ...);
  return out;
}

// Text of a file for a message: in quotes, cut to 64 bytes, everything that is not printable ASCII as \xNN.
inline std::string quoted(std::string_view text) {
  constexpr size_t kMaxBytes = 64;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kMaxBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      out += c;
    } else {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out += text.size() > kMaxBytes ? "\"..." : "\"";
}

}  // namespace gainz
