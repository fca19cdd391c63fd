#include "tokenizer/unicode_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "tokenizer/utf8.h"

namespace gainz::unicode {

namespace {

constexpr int32_t kFirstChanged = 0x300;  // every character before U+0300 is its own NFC and composes with nothing before it

utf8proc_propval_t combining_class(int32_t code_point) { return utf8proc_get_property(code_point)->combining_class; }

// Canonical ordering: each run of characters with a class other than 0 is sorted by class, stably. utf8proc's own ordering
// takes quadratic time on long runs.
void order_marks(std::vector<int32_t>& text) {
  for (size_t begin = 0; begin < text.size();) {
    if (text[begin] < kFirstChanged || combining_class(text[begin]) == 0) {
      ++begin;
      continue;
    }
    size_t end = begin + 1;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    if (end - begin > 1) {
      std::stable_sort(text.begin() + static_cast<ptrdiff_t>(begin), text.begin() + static_cast<ptrdiff_t>(end),
                       [](int32_t a, int32_t b) { return combining_class(a) < combining_class(b); });
    }
    begin = end;
  }
}

bool has_changed_character(std::string_view text) {
  for (const char c : text) {
    if (static_cast<uint8_t>(c) >= 0xCC) return true;  // the lead byte of U+0300
  }
  return false;
}

}  // namespace

std::vector<int32_t> nfd_code_points(std::string_view text) {
  constexpr utf8proc_ssize_t kLongest = 18;
  std::vector<int32_t> out;
  out.reserve(text.size());
  while (!text.empty()) {
    const utf8::Step step = utf8::decode(text);
    text.remove_prefix(step.num_bytes);
    if (step.code_point < 0x80) {
      out.push_back(static_cast<int32_t>(step.code_point));
      continue;
    }
    int32_t parts[kLongest];
    int boundary = 0;
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
    const utf8proc_ssize_t num_parts =
        utf8proc_decompose_char(static_cast<int32_t>(step.code_point), parts, kLongest, options, &boundary);
    if (num_parts <= 0 || num_parts > kLongest)
      out.push_back(static_cast<int32_t>(step.code_point));
    else
      out.insert(out.end(), parts, parts + num_parts);
  }
  order_marks(out);
  return out;
}

std::string nfc(std::string_view text) {
  if (!has_changed_character(text)) return std::string(text);
  std::vector<int32_t> points = nfd_code_points(text);
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const utf8proc_ssize_t length =
      utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()), options);
  if (length < 0) return std::string(text);
  points.resize(static_cast<size_t>(length));
  std::string out;
  out.reserve(text.size());
  for (const int32_t c : points) utf8::append(out, static_cast<uint32_t>(c));
  return out;
}

bool is_nonspacing_mark(int32_t code_point) { return utf8proc_category(code_point) == UTF8PROC_CATEGORY_MN; }

bool is_punctuation(int32_t code_point) {
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return true;
    default:
      return false;
  }
}

bool is_other(int32_t code_point) {
  const auto category = utf8proc_category(code_point);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

bool is_white_space(int32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

int32_t to_lower(int32_t code_point) { return utf8proc_tolower(code_point); }

}  // namespace gainz::unicode
