#include "template/string_literal.h"

#include "template/unicode.h"

namespace gainz::jinja {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Exactly n hexadecimal digits at *at.
bool read_hex(std::string_view body, int n, size_t* at, char32_t* out) {
  *out = 0;
  for (int k = 0; k < n; ++k, ++*at) {
    const int value = *at < body.size() ? hex_value(body[*at]) : -1;
    if (value < 0) return false;
    *out = *out * 16 + static_cast<char32_t>(value);
  }
  return true;
}

char simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case '\\':
    case '\'':
    case '"':
      return c;
    default:
      return 0;
  }
}

}  // namespace

bool unescape_string(std::string_view body, std::string* out, std::string* out_problem) {
  for (size_t at = 0; at < body.size();) {
    if (body[at] != '\\' || at + 1 >= body.size()) {
      *out += body[at++];
      continue;
    }
    const char c = body[at + 1];
    at += 2;
    char32_t code = 0;
    if (c == '\n') continue;
    if (const char simple = simple_escape(c)) {
      *out += simple;
    } else if (c >= '0' && c <= '7') {
      code = static_cast<char32_t>(c - '0');
      for (int k = 0; k < 2 && at < body.size() && body[at] >= '0' && body[at] <= '7'; ++k)
        code = code * 8 + (body[at++] - '0');
      encode(code, out);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const bool complete = read_hex(body, c == 'x' ? 2 : (c == 'u' ? 4 : 8), &at, &code);
      if (!complete || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        *out_problem = std::string("a string holds a bad escape \\") + c;
        return false;
      }
      encode(code, out);
    } else if (c == 'N') {
      *out_problem = "a string holds \\N, a character by name, which is not read here";
      return false;
    } else {
      *out += '\\';
      *out += c;
    }
  }
  return true;
}

}  // namespace gainz::jinja
