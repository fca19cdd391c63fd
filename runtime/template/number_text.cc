#include "template/number_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "template/text_ops.h"

namespace gainz::jinja {

namespace {

// Without white space at the ends and without single underscores between digits. False: a misplaced underscore.
bool clean(std::string_view text, std::string* out) {
  const Text stripped = strip(Text(std::string(text)), nullptr, true, true);
  const std::string_view view = stripped.view();
  for (size_t k = 0; k < view.size(); ++k) {
    if (view[k] != '_') {
      *out += view[k];
      continue;
    }
    const auto is_digit = [&](size_t at) { return at < view.size() && isalnum(static_cast<unsigned char>(view[at])) != 0; };
    if (k == 0 || !is_digit(k - 1) || !is_digit(k + 1)) return false;
  }
  return true;
}

int prefix_base(std::string_view digits) {
  if (digits.size() < 2 || digits[0] != '0') return 0;
  switch (digits[1] | 0x20) {
    case 'x':
      return 16;
    case 'o':
      return 8;
    case 'b':
      return 2;
    default:
      return 0;
  }
}

}  // namespace

Parsed parse_integer(std::string_view text, int64_t base, int64_t* out) {
  std::string digits;
  if ((base != 0 && base < 2) || base > 36 || !clean(text, &digits)) return Parsed::bad;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (negative || (!digits.empty() && digits[0] == '+')) digits.erase(0, 1);
  const int prefix = prefix_base(digits);
  if (prefix != 0 && (base == prefix || base == 0)) {
    digits.erase(0, 2);
    base = prefix;
  } else if (base == 0) {
    if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string::npos) return Parsed::bad;
    base = 10;
  }
  if (digits.empty() || digits[0] == '-' || digits[0] == '+') return Parsed::bad;
  if (negative) digits.insert(0, 1, '-');
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), *out, static_cast<int>(base));
  if (end.ec == std::errc::result_out_of_range && end.ptr == digits.data() + digits.size()) return Parsed::too_large;
  return end.ec == std::errc() && end.ptr == digits.data() + digits.size() ? Parsed::good : Parsed::bad;
}

bool parse_real(std::string_view text, double* out) {
  std::string digits;
  if (!clean(text, &digits)) return false;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (negative || (!digits.empty() && digits[0] == '+')) digits.erase(0, 1);
  std::string lower = digits;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return c < 0x80 ? tolower(c) : c; });
  if (lower == "inf" || lower == "infinity") {
    *out = std::numeric_limits<double>::infinity();
  } else if (lower == "nan") {
    *out = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (digits.empty() || (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9'))) return false;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), *out);
    if (end.ptr != digits.data() + digits.size() || end.ec == std::errc::invalid_argument) return false;
    if (end.ec == std::errc::result_out_of_range)
      *out = lower.find("e-") != std::string::npos ? 0.0 : std::numeric_limits<double>::infinity();
  }
  if (negative) *out = -*out;
  return true;
}

}  // namespace gainz::jinja
