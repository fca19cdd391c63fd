#include "template/text_ops.h"

#include <algorithm>

#include "template/format.h"
#include "template/limits.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

bool strips(char32_t c, std::string_view one, const Text* chars) {
  return chars ? chars->view().find(one) != std::string_view::npos : is_space(c);
}

// Full mappings that one code point cannot hold (Unicode's SpecialCasing, the ones of living languages).
std::string upper_of(char32_t c) {
  std::string out;
  if (c == 0xDF) return "SS";
  if (c == 0x149)
    return "\xCA\xBC"
           "N";
  if (c == 0x1F0) return "J\xCC\x8C";
  if (c >= 0xFB00 && c <= 0xFB06) {
    static constexpr const char* kLigatures[] = {"FF", "FI", "FL", "FFI", "FFL", "ST", "ST"};
    return kLigatures[c - 0xFB00];
  }
  encode(to_upper(c), &out);
  return out;
}

std::string title_of(char32_t c) {
  std::string out;
  if (c == 0xDF) return "Ss";
  if (c >= 0xFB00 && c <= 0xFB06) {
    static constexpr const char* kLigatures[] = {"Ff", "Fi", "Fl", "Ffi", "Ffl", "St", "St"};
    return kLigatures[c - 0xFB00];
  }
  encode(to_title(c), &out);
  return out;
}

bool is_cased(char32_t c) { return is_upper(c) || is_lower(c) || is_title(c); }

// A capital sigma that ends a word becomes the final one.
bool final_sigma(std::string_view text, size_t at, size_t end) {
  if (at == 0) return false;
  size_t unused = 0;
  if (!is_cased(decode_at(text, previous_char(text, at), &unused))) return false;
  return end >= text.size() || !is_cased(decode_at(text, end, &unused));
}

std::string lower_of(std::string_view text, size_t at, size_t end, char32_t c) {
  std::string out;
  if (c == 0x130) return "i\xCC\x87";
  if (c == 0x3A3) {
    encode(final_sigma(text, at, end) ? 0x3C2 : 0x3C3, &out);
    return out;
  }
  encode(to_lower(c), &out);
  return out;
}

}  // namespace

Text strip(const Text& text, const Text* chars, bool left, bool right) {
  size_t begin = 0, end = text.size();
  while (left && begin < end) {
    size_t next = 0;
    const char32_t c = decode_at(text.view(), begin, &next);
    if (!strips(c, text.view().substr(begin, next - begin), chars)) break;
    begin = next;
  }
  while (right && end > begin) {
    size_t next = 0;
    const size_t before = previous_char(text.view(), end);
    const char32_t c = decode_at(text.view(), before, &next);
    if (!strips(c, text.view().substr(before, end - before), chars)) break;
    end = before;
  }
  return text.slice(begin, end);
}

Value change_case(Session& session, const Text& text, Case how) {
  TextBuilder out(session);
  bool in_word = false;
  if (!session.step(text.size() / 16)) return {};
  for (size_t at = 0, end = 0; at < text.size(); at = end) {
    const char32_t c = decode_at(text.view(), at, &end);
    std::string mapped;
    switch (how) {
      case Case::upper:
        mapped = upper_of(c);
        break;
      case Case::lower:
        mapped = lower_of(text.view(), at, end, c);
        break;
      case Case::swap:
        mapped = is_upper(c) ? lower_of(text.view(), at, end, c) : upper_of(c);
        break;
      case Case::capitalize:
        mapped = at == 0 ? title_of(c) : lower_of(text.view(), at, end, c);
        break;
      case Case::title:
        mapped = in_word ? lower_of(text.view(), at, end, c) : title_of(c);
        break;
    }
    in_word = is_cased(c);
    out.text().append(mapped, text.user_in(at, end));
  }
  return out.finish();
}

Value replace_all(Session& session, const Text& text, const Text& from, const Text& to, int64_t max_count) {
  TextBuilder out(session);
  const std::string_view view = text.view();
  if (max_count < 0) max_count = static_cast<int64_t>(view.size()) + 1;
  if (!session.bytes(view.size())) return {};
  size_t at = 0;
  if (from.empty()) {  // between all characters
    while (max_count-- > 0 && session.step()) {
      if (!out.add(to) || at >= view.size()) break;
      size_t end = 0;
      decode_at(view, at, &end);
      out.add(text, at, end);
      at = end;
    }
    out.add(text, at, view.size());
    return out.finish();
  }
  for (; max_count > 0; --max_count) {
    const size_t found = view.find(from.view(), at);
    if (found == std::string_view::npos || !session.step()) break;
    if (!out.add(text, at, found) || !out.add(to)) return {};
    at = found + from.size();
  }
  out.add(text, at, view.size());
  return out.finish();
}

std::vector<Text> split_lines(Session& session, const Text& text, bool keep_ends) {
  std::vector<Text> lines;
  const std::string_view view = text.view();
  size_t begin = 0;
  for (size_t at = 0, end = 0; at < view.size(); at = end) {
    const char32_t c = decode_at(view, at, &end);
    if (!is_line_break(c)) continue;
    if (c == '\r' && end < view.size() && view[end] == '\n') ++end;
    if (!session.step() || !session.room((lines.size() + 1) * 2 * sizeof(Text))) return lines;
    lines.push_back(text.slice(begin, keep_ends ? end : at));
    begin = end;
  }
  if (begin < view.size()) lines.push_back(text.slice(begin, view.size()));
  return lines;
}

Value pad_center(Session& session, const Text& text, int64_t width, const Text& fill) {
  const auto size = static_cast<int64_t>(num_chars(text.view()));
  const int64_t pad = std::max<int64_t>(width - size, 0);
  const int64_t left = width > size ? pad / 2 + (pad & width & 1) : 0;
  TextBuilder out(session);
  out.repeat(fill, static_cast<uint64_t>(left));
  out.add(text);
  out.repeat(fill, static_cast<uint64_t>(pad - left));
  return out.finish();
}

Value join_texts(Session& session, const Text& separator, const std::vector<Value>& items) {
  TextBuilder out(session);
  bool is_first = true;
  for (const Value& item : items) {
    if (!session.step() || (!is_first && !out.add(separator)) || !append_str(session, out, item)) return {};
    is_first = false;
  }
  return out.finish();
}

Value indent_lines(Session& session, const Text& text, const Text& indent, bool first, bool blank) {
  Text quirk = text;  // Jinja appends a newline, so that an empty last line is kept
  quirk.append("\n", false);
  const std::vector<Text> lines = split_lines(session, quirk, false);
  TextBuilder out(session);
  if (first) out.add(indent);
  for (size_t k = 0; k < lines.size() && !session.failed(); ++k) {
    if (k > 0) out.add("\n");
    if (k > 0 && (blank || !lines[k].empty())) out.add(indent);
    out.add(lines[k]);
  }
  return out.finish();
}

Value texts(Session& session, std::vector<Text> parts, Kind kind) {
  if (!session.room(parts.size() * (sizeof(Value) + sizeof(TextRef)))) return {};
  std::vector<Value> items;
  items.reserve(parts.size());
  for (Text& part : parts) items.push_back(session.text(std::move(part)));
  return session.failed() ? Value() : session.list(std::move(items), kind);
}

Text lower_key(Session& session, const Text& text) {
  const Value lower = change_case(session, text, Case::lower);
  return session.failed() ? Text() : lower.text();
}

}  // namespace gainz::jinja
