// Filters for prose and the web: truncate, wordwrap, striptags, urlencode, xmlattr.
#include <algorithm>
#include <charconv>

#include "template/builtins.h"
#include "template/format.h"
#include "template/operators.h"
#include "template/text_ops.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

Value truncate(Session& session, const Value& self, const Args& args) {
  Bound a(session, "truncate", args, {"length", "killwords", "end", "leeway"});
  const int64_t limit = a.integer(0, 255);
  const Text end = a.text(2, "...");
  const int64_t leeway = a.has(3) && !a[3].is(Kind::none) ? a.integer(3, 5) : 5;
  if (!a.ok()) return {};
  const auto end_size = static_cast<int64_t>(num_chars(end.view()));
  if (limit < end_size || leeway < 0) return session.error("truncate: the length is too small");
  const int64_t size = length(session, self);
  if (session.failed() || size <= limit || size - limit <= leeway) return self;
  if (!self.is_text()) return session.error("truncate: a string is needed, not " + type_name(self));
  const Text& text = self.text();
  size_t cut = byte_of_char(text.view(), static_cast<size_t>(limit - end_size));
  if (!a.flag(1, false)) {
    const size_t space = text.view().substr(0, cut).rfind(' ');
    if (space != std::string_view::npos) cut = space;
  }
  TextBuilder out(session);
  out.add(text, 0, cut);
  out.add(end);
  return out.finish();
}

// Lines of at most `width` characters, after Python's textwrap: words and blanks are chunks, a word may be split after a hyphen
// between letters, blanks at the ends of lines are dropped.
class Wrapper {
 public:
  Wrapper(Session& session, size_t width, bool break_words, bool break_hyphens)
      : session_(session), width_(width), break_words_(break_words), break_hyphens_(break_hyphens) {}
  std::vector<Text> wrap(const Text& line);

 private:
  struct Chunk {
    size_t begin, end, width;
    bool blank;
  };
  static bool is_blank(char c) { return c == ' ' || (c >= 9 && c <= 13); }
  std::vector<Chunk> chunks(std::string_view line) const;
  Chunk head_of(std::string_view line, Chunk* word, size_t room) const;
  bool hyphen_ends(std::string_view line, size_t begin, size_t at) const;

  Session& session_;
  size_t width_;
  bool break_words_, break_hyphens_;
};

bool Wrapper::hyphen_ends(std::string_view line, size_t begin, size_t at) const {
  if (!break_hyphens_ || line[at] != '-' || at < begin + 2 || at + 1 >= line.size()) return false;
  const auto is_letter = [&](size_t k) { return isalpha(static_cast<unsigned char>(line[k])) != 0 || (line[k] & 0x80) != 0; };
  return is_letter(at - 1) && is_letter(at - 2) && is_letter(at + 1);
}

std::vector<Wrapper::Chunk> Wrapper::chunks(std::string_view line) const {
  std::vector<Chunk> result;
  for (size_t begin = 0; begin < line.size();) {
    size_t end = begin;
    const bool blank = is_blank(line[begin]);
    while (end < line.size() && is_blank(line[end]) == blank) {
      ++end;
      if (!blank && hyphen_ends(line, begin, end - 1)) break;
    }
    result.push_back({begin, end, num_chars(line.substr(begin, end - begin)), blank});
    begin = end;
  }
  return result;
}

// Cuts the first `room` characters, or those to the last hyphen among them, off a word. None: an empty blank, as in textwrap.
Wrapper::Chunk Wrapper::head_of(std::string_view line, Chunk* word, size_t room) const {
  const std::string_view bytes = line.substr(word->begin, word->end - word->begin);
  size_t cut = byte_of_char(bytes, room);
  if (break_hyphens_ && cut > 0) {
    const size_t hyphen = bytes.rfind('-', cut - 1);
    if (hyphen != std::string_view::npos && hyphen > 0 &&
        bytes.substr(0, hyphen).find_first_not_of('-') != std::string_view::npos) {
      cut = hyphen + 1;
    }
  }
  const size_t width = num_chars(bytes.substr(0, cut));
  const Chunk head{word->begin, word->begin + cut, width, cut == 0};
  word->begin += cut;
  word->width -= width;
  return head;
}

std::vector<Text> Wrapper::wrap(const Text& line) {
  std::vector<Text> lines;
  if (!session_.room(2 * line.size() * sizeof(Chunk))) return lines;
  std::vector<Chunk> rest = chunks(line.view());
  std::reverse(rest.begin(), rest.end());
  while (!rest.empty() && session_.step()) {
    if (rest.back().blank && !lines.empty()) rest.pop_back();
    std::vector<Chunk> current;
    size_t used = 0;
    while (!rest.empty() && used + rest.back().width <= width_) {
      used += rest.back().width;
      current.push_back(rest.back());
      rest.pop_back();
    }
    if (!rest.empty() && rest.back().width > width_) {
      if (break_words_) {
        current.push_back(head_of(line.view(), &rest.back(), width_ - used));
      } else if (current.empty()) {
        current.push_back(rest.back());
        rest.pop_back();
      }
    }
    if (!current.empty() && current.back().blank) current.pop_back();
    if (!current.empty()) lines.push_back(line.slice(current.front().begin, current.back().end));
  }
  return lines;
}

Value word_wrap(Session& session, const Value& self, const Args& args) {
  Bound a(session, "wordwrap", args, {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  const int64_t width = a.integer(0, 79);
  const Text newline = a.has(2) && !a[2].is(Kind::none) ? a.text(2, "") : Text("\n");
  if (!a.ok()) return {};
  if (!self.is_text()) return session.error("wordwrap: a string is needed, not " + type_name(self));
  if (width <= 0) return session.error("wordwrap: the width must be positive");
  Wrapper wrapper(session, static_cast<size_t>(width), a.flag(1, true), a.flag(3, true));
  TextBuilder out(session);
  bool is_first = true;
  for (const Text& line : split_lines(session, self.text(), false)) {
    if (!is_first) out.add(newline);
    is_first = false;
    const std::vector<Text> parts = wrapper.wrap(line);
    for (size_t k = 0; k < parts.size(); ++k) {
      if (k > 0) out.add(newline);
      if (!out.add(parts[k])) return {};
    }
  }
  return out.finish();
}

// Without <!-- --> and <tags>.
Text without(const Text& text, std::string_view open, std::string_view close) {
  Text out;
  size_t at = 0;
  for (;;) {
    const size_t begin = text.view().find(open, at);
    const size_t end = begin == std::string_view::npos ? begin : text.view().find(close, begin);
    if (end == std::string_view::npos) break;
    out.append(text, at, begin);
    at = end + close.size();
  }
  out.append(text, at, text.size());
  return out;
}

// The character of an entity at `at`, and its end; 0: none.
char32_t entity(std::string_view text, size_t at, size_t* out_end) {
  static constexpr std::pair<std::string_view, char32_t> kNamed[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                                                                     {"&quot;", '"'}, {"&apos;", '\''}, {"&nbsp;", 0xA0}};
  for (const auto& [name, c] : kNamed) {
    if (text.compare(at, name.size(), name) == 0) {
      *out_end = at + name.size();
      return c;
    }
  }
  if (text.compare(at, 2, "&#") != 0) return 0;
  const bool is_hex = at + 2 < text.size() && (text[at + 2] | 0x20) == 'x';
  uint32_t code = 0;
  const auto end = std::from_chars(text.data() + at + (is_hex ? 3 : 2), text.data() + text.size(), code, is_hex ? 16 : 10);
  if (end.ec != std::errc() || end.ptr == text.data() + text.size() || *end.ptr != ';') return 0;
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
  *out_end = static_cast<size_t>(end.ptr - text.data()) + 1;
  return code;
}

Value strip_tags(Session& session, const Value& self, const Args&) {
  const Value value = to_str(session, self);
  if (session.failed() || !session.step(value.text().size() / 8)) return {};
  const Text bare = without(without(value.text(), "<!--", "-->"), "<", ">");
  TextBuilder out(session);
  bool pending = false;
  for (size_t at = 0, end = 0; at < bare.size(); at = end) {
    char32_t c = decode_at(bare.view(), at, &end);
    if (is_space(c)) {
      pending = out.size() > 0;
      continue;
    }
    if (pending) out.add(" ");
    pending = false;
    const char32_t named = c == '&' ? entity(bare.view(), at, &end) : 0;
    std::string bytes;
    encode(named != 0 ? named : c, &bytes);
    out.text().append(bytes, bare.user_in(at, end));
  }
  return out.finish();
}

bool append_quoted(Session& session, TextBuilder& out, const Value& value, bool for_query) {
  const Value text = to_str(session, value);
  if (session.failed()) return false;
  const Text& bytes = text.text();
  for (size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes.view()[at];
    const bool plain =
        isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_.-~").find(c) != std::string_view::npos;
    std::string quoted(1, c);
    if (for_query && c == ' ') {
      quoted = "+";
    } else if (!plain && (c != '/' || for_query)) {
      const auto byte = static_cast<unsigned char>(c);
      quoted = {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
    }
    if (!out.add(quoted, bytes.user_in(at, at + 1))) return false;
  }
  return true;
}

Value url_encode(Session& session, const Value& self, const Args&) {
  TextBuilder out(session);
  std::vector<Value> pairs;
  if (self.is_text() || !is_iterable(self)) {
    append_quoted(session, out, self, false);
    return out.finish();
  }
  if (self.is(Kind::dict)) {
    for (const auto& [key, value] : self.dict().entries) pairs.push_back(session.list({key, value}, Kind::tuple));
  } else if (!iterate(session, self, &pairs)) {
    return {};
  }
  bool is_first = true;
  for (const Value& item : pairs) {
    std::vector<Value> pair;
    if (!iterate(session, item, &pair)) return {};
    if (pair.size() != 2) return session.error("urlencode: an element is not a pair");
    if ((!is_first && !out.add("&")) || !append_quoted(session, out, pair[0], true) || !out.add("=")) return {};
    if (!append_quoted(session, out, pair[1], true)) return {};
    is_first = false;
  }
  return out.finish();
}

Value xml_attributes(Session& session, const Value& self, const Args& args) {
  Bound a(session, "xmlattr", args, {"autospace"});
  if (!a.ok()) return {};
  if (!self.is(Kind::dict)) return session.error("xmlattr: a mapping is needed, not " + type_name(self));
  TextBuilder out(session);
  for (const auto& [key, value] : self.dict().entries) {
    if (value.is(Kind::none) || value.is_undefined()) continue;
    const Value name = apply_filter(session, "escape", key, {});
    const Value text = apply_filter(session, "escape", value, {});
    if (session.failed()) return {};
    const std::string bytes = key.is_text() ? key.text().bytes() : "";
    if (bytes.find_first_of(" \t\n\r\f\v/>=") != std::string::npos) return session.error("Invalid character in attribute name");
    if (out.size() > 0 || a.flag(0, true)) out.add(" ");
    out.add(name.text());
    out.add("=\"");
    out.add(text.text());
    out.add("\"");
  }
  return out.finish();
}

constexpr Entry<Filter> kFilters[] = {
    {"striptags", strip_tags}, {"truncate", truncate},      {"urlencode", url_encode},
    {"wordwrap", word_wrap},   {"xmlattr", xml_attributes},
};

}  // namespace

std::span<const Entry<Filter>> wrap_filters() { return kFilters; }

}  // namespace gainz::jinja
