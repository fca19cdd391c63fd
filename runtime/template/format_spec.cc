#include "template/format_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "template/format.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

constexpr int kMaxPrecision = 1000;  // digits after the point that a format may ask for

std::string digits_of(uint64_t value, int base) {
  char buffer[70];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, base).ptr);
}

void group(std::string* digits, char separator, size_t size) {
  const size_t end = std::min(digits->find_first_of(".e"), digits->size());
  for (size_t at = end; at > size; at -= size) digits->insert(at - size, 1, separator);
}

// %g: the shorter of %e and %f, without trailing zeros; "#" keeps them.
std::string real_digits(double value, const FormatSpec& spec, char type) {
  char format[16];
  std::snprintf(format, sizeof format, "%%%s.*%c", spec.alternate ? "#" : "", type);
  const int precision = spec.precision < 0 ? 6 : spec.precision;
  std::string out(static_cast<size_t>(precision) + 400, '\0');
  out.resize(static_cast<size_t>(std::snprintf(out.data(), out.size(), format, precision, value)));
  return out;
}

std::string magnitude(double value, const FormatSpec& spec) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : "inf";
  if (spec.type == '%') return real_digits(value * 100, spec, 'f') + "%";
  if (spec.type != 0) return real_digits(value, spec, spec.type);
  if (spec.precision < 0) return real_repr(value);
  std::string text = real_digits(value, spec, 'g');
  return text;
}

std::string integer_magnitude(uint64_t value, const FormatSpec& spec) {
  const int base = spec.type == 'x' || spec.type == 'X' ? 16 : (spec.type == 'o' ? 8 : (spec.type == 'b' ? 2 : 10));
  std::string digits = digits_of(value, base);
  if (spec.grouping != 0) group(&digits, spec.grouping, base == 10 ? 3 : 4);
  if (spec.type == 'X')
    std::transform(digits.begin(), digits.end(), digits.begin(), [](unsigned char c) { return toupper(c); });
  return digits;
}

bool append_padded(TextBuilder& out, const Text& body, const FormatSpec& spec, char own_align, size_t prefix_bytes) {
  const uint64_t size = num_chars(body.view());
  const uint64_t pad = spec.width > size ? spec.width - size : 0;
  const char align = spec.align != 0 ? spec.align : own_align;
  const uint64_t before = align == '<' ? 0 : (align == '^' ? pad / 2 : pad);
  const Text fill(spec.fill);
  if (align == '=') return out.add(body, 0, prefix_bytes) && out.repeat(fill, pad) && out.add(body, prefix_bytes, body.size());
  return out.repeat(fill, before) && out.add(body) && out.repeat(fill, pad - before);
}

bool append_number(Session& session, TextBuilder& out, const Value& value, const FormatSpec& spec) {
  const bool wants_real = spec.type != 0 && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
  const bool is_real = wants_real || value.is(Kind::real);
  if (value.is(Kind::real) && spec.type != 0 && !wants_real) {
    session.error(std::string("Unknown format code '") + spec.type + "' for object of type 'float'");
    return false;
  }
  if (!is_real && spec.precision >= 0) {
    session.error("Precision not allowed in integer format specifier");
    return false;
  }
  const double real = value.as_real();
  const bool negative = is_real ? std::signbit(real) && !std::isnan(real) : value.as_int() < 0;
  std::string prefix = negative ? "-" : (spec.sign == '-' ? "" : std::string(1, spec.sign));
  if (!is_real && spec.alternate && (spec.type == 'x' || spec.type == 'X' || spec.type == 'o' || spec.type == 'b')) {
    prefix += std::string("0") + spec.type;
  }
  std::string digits = is_real ? magnitude(std::fabs(real), spec)
                               : integer_magnitude(negative ? 0 - static_cast<uint64_t>(value.as_int()) : value.as_int(), spec);
  if (is_real && spec.grouping != 0) group(&digits, spec.grouping, 3);
  return append_padded(out, Text(prefix + digits, value.user), spec, '>', prefix.size());
}

bool append_char(Session& session, TextBuilder& out, const Value& value, const FormatSpec& spec) {
  const int64_t code = value.as_int();
  if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    session.error("%c arg not in range(0x110000)");
    return false;
  }
  std::string bytes;
  encode(static_cast<char32_t>(code), &bytes);
  return append_padded(out, Text(bytes, value.user), spec, '<', 0);
}

}  // namespace

bool parse_spec(Session& session, std::string_view text, FormatSpec* out) {
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  size_t at = 0;
  if (!text.empty()) {
    size_t after = 0;
    decode_at(text, 0, &after);
    if (after < text.size() && is_align(text[after])) {
      out->fill = std::string(text.substr(0, after));
      out->align = text[after];
      at = after + 1;
    } else if (is_align(text[0])) {
      out->align = text[0];
      at = 1;
    }
  }
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  const auto number = [&](uint64_t* value) {
    const auto end = std::from_chars(text.data() + at, text.data() + text.size(), *value);
    at = static_cast<size_t>(end.ptr - text.data());
    return end.ec == std::errc();
  };
  if (peek() == '+' || peek() == '-' || peek() == ' ') out->sign = text[at++];
  if (peek() == '#') out->alternate = text[at++] != 0;
  if (peek() == '0') {
    ++at;
    if (out->align == 0) {
      out->fill = "0";
      out->align = '=';
    }
  }
  bool good = !(peek() >= '0' && peek() <= '9') || number(&out->width);
  if (peek() == ',' || peek() == '_') out->grouping = text[at++];
  if (good && peek() == '.') {
    ++at;
    uint64_t precision = 0;
    good = number(&precision) && precision <= kMaxPrecision;
    out->precision = static_cast<int>(precision);
  }
  if (good && at < text.size()) out->type = text[at++];
  if (good && at == text.size()) return true;
  session.error("Invalid format specifier '" + std::string(text) + "'");
  return false;
}

bool append_formatted(Session& session, TextBuilder& out, const Value& value, const FormatSpec& spec) {
  if (value.is_text()) {
    if (spec.type != 0 && spec.type != 's') {
      session.error(std::string("Unknown format code '") + spec.type + "' for object of type 'str'");
      return false;
    }
    if (spec.align == '=') {
      session.error("'=' alignment not allowed in string format specifier");
      return false;
    }
    const Text& text = value.text();
    const size_t end = spec.precision < 0 ? text.size() : byte_of_char(text.view(), static_cast<size_t>(spec.precision));
    return append_padded(out, text.slice(0, end), spec, '<', 0);
  }
  const bool plain = spec.width == 0 && spec.align == 0 && spec.precision < 0 && spec.type == 0 && spec.sign == '-';
  if (value.is_number() && !(value.is(Kind::boolean) && plain)) {
    if (spec.type == 'c' && value.is_int()) return append_char(session, out, value, spec);
    if (spec.type == 's' || (spec.type != 0 && std::string_view("dbnoxXeEfFgG%").find(spec.type) == std::string_view::npos)) {
      session.error(std::string("Unknown format code '") + spec.type + "' for object of type '" + type_name(value) + "'");
      return false;
    }
    return append_number(session, out, value, spec);
  }
  if (!plain) {
    session.error("unsupported format string passed to " + type_name(value) + ".__format__");
    return false;
  }
  const Value text = to_str(session, value);
  return !session.failed() && append_padded(out, text.text(), spec, '<', 0);
}

}  // namespace gainz::jinja
