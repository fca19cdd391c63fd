#include "device/plugin_call.h"

#include <cstring>

namespace gainz {
namespace {

// Bytes of the well-formed UTF-8 character at text[i]; 0: there is none.
size_t character_bytes(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
  const unsigned first = byte(i), second = byte(i + 1);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first < 0xE0   ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  for (size_t k = 1; k < length; ++k)
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  if (first == 0xE0 && second < 0xA0) return 0;   // overlong
  if (first == 0xED && second >= 0xA0) return 0;  // a surrogate
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second >= 0x90) return 0;  // beyond U+10FFFF
  return length;
}

}  // namespace

std::string one_line(std::string_view text, size_t max_bytes) {
  text = text.substr(0, std::min(text.find('\0'), text.size()));
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = character_bytes(text, i);
    if (out.size() + std::max<size_t>(length, 1) > max_bytes) break;
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (length == 0)
      out += '?';
    else if (c < 0x20 || c == 0x7F)
      out += ' ';
    else
      out.append(text, i, length);
    i += std::max<size_t>(length, 1);
  }
  return out;
}

std::string one_line(const char* text, size_t max_bytes) {  // 4: a whole character beyond the cut, so that none is halved
  return text ? one_line(std::string_view(text, strnlen(text, max_bytes + 4)), max_bytes) : std::string();
}

}  // namespace gainz
