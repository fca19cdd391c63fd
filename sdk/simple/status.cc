#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "gainz/sdk/simple_backend.h"

namespace gainz::sdk {

Status failure(gainz_status code, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return Status(code, text);
}

void write_error(gainz_error* error, std::string_view text) noexcept {
  if (error == nullptr || error->struct_size < sizeof(gainz_error) || error->text == nullptr || error->text_capacity == 0)
    return;
  size_t length = std::min<size_t>(text.size(), error->text_capacity - 1);
  // Back to the start of the character that would be cut: 10xxxxxx continues one.
  while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80u) --length;
  std::memcpy(error->text, text.data(), length);
  error->text[length] = '\0';
}

}  // namespace gainz::sdk
