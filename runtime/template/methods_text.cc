// Methods of Python's str that make strings, lists and numbers.
#include <algorithm>
#include <iterator>

#include "template/builtins.h"
#include "template/format.h"
#include "template/methods.h"
#include "template/operators.h"
#include "template/text_ops.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

template <Case how>
Value cased(Session& session, const Value& self, Args& args) {
  if (!Bound(session, "a str method", args, {}).ok()) return {};
  return change_case(session, self.text(), how);
}

template <bool left, bool right>
Value stripped(Session& session, const Value& self, Args& args) {
  Bound a(session, "strip", args, {"chars"});
  if (!a.ok()) return {};
  const bool has_chars = a.has(0) && !a[0].is(Kind::none);
  const Text chars = has_chars ? a.text(0, "") : Text();
  if (!a.ok() || !session.bytes(self.text().size())) return {};
  return session.text(strip(self.text(), has_chars ? &chars : nullptr, left, right));
}

// split() without a separator: runs of white space.
std::vector<Text> split_blanks(Session& session, const Text& text, int64_t max, bool from_right) {
  std::vector<Text> parts;
  Text rest = strip(text, nullptr, !from_right, from_right);
  while (!rest.empty() && session.step()) {
    if (max-- == 0) {
      parts.push_back(rest);
      break;
    }
    size_t cut = from_right ? rest.size() : 0;
    while (from_right ? cut > 0 : cut < rest.size()) {
      size_t next = 0;
      const size_t at = from_right ? previous_char(rest.view(), cut) : cut;
      if (is_space(decode_at(rest.view(), at, &next))) break;
      cut = from_right ? at : next;
    }
    if (!session.bytes(rest.size())) break;
    parts.push_back(from_right ? rest.slice(cut, rest.size()) : rest.slice(0, cut));
    rest = from_right ? strip(rest.slice(0, cut), nullptr, false, true)
                      : strip(rest.slice(cut, rest.size()), nullptr, true, false);
  }
  return parts;
}

std::vector<Text> split_at(Session& session, const Text& text, const Text& separator, int64_t max, bool from_right) {
  std::vector<Text> parts;
  size_t begin = 0, end = text.size();
  const auto spend = [&] { return session.step() && session.room((parts.size() + 1) * 2 * sizeof(Text)); };
  while (max-- != 0 && spend()) {
    const std::string_view view = text.view().substr(begin, end - begin);
    const size_t found = from_right ? view.rfind(separator.view()) : view.find(separator.view());
    if (found == std::string_view::npos) break;
    const size_t at = begin + found;
    parts.push_back(from_right ? text.slice(at + separator.size(), end) : text.slice(begin, at));
    (from_right ? end : begin) = from_right ? at : at + separator.size();
  }
  parts.push_back(text.slice(begin, end));
  return parts;
}

template <bool from_right>
Value split(Session& session, const Value& self, Args& args) {
  Bound a(session, "split", args, {"sep", "maxsplit"});
  const int64_t max = std::max<int64_t>(a.integer(1, -1), -1);
  if (!a.ok() || !session.bytes(self.text().size())) return {};
  std::vector<Text> parts;
  if (!a.has(0) || a[0].is(Kind::none)) {
    parts = split_blanks(session, self.text(), max, from_right);
  } else {
    const Text separator = a.text(0, "");
    if (!a.ok()) return {};
    if (separator.empty()) return session.error("empty separator");
    parts = split_at(session, self.text(), separator, max, from_right);
  }
  if (from_right) std::reverse(parts.begin(), parts.end());
  return texts(session, std::move(parts));
}

Value splitlines(Session& session, const Value& self, Args& args) {
  Bound a(session, "splitlines", args, {"keepends"});
  if (!a.ok() || !session.bytes(self.text().size())) return {};
  return texts(session, split_lines(session, self.text(), a.flag(0, false)));
}

template <bool from_right>
Value partition(Session& session, const Value& self, Args& args) {
  Bound a(session, "partition", args, {"sep"}, 1);
  if (!a.ok()) return {};
  const Text separator = a.text(0, "");
  if (!a.ok()) return {};
  if (separator.empty()) return session.error("empty separator");
  const Text& text = self.text();
  const size_t at = from_right ? text.view().rfind(separator.view()) : text.view().find(separator.view());
  std::vector<Text> parts;
  if (at == std::string_view::npos) {
    parts = {text, Text(), Text()};
    if (from_right) std::swap(parts[0], parts[2]);
  } else {
    parts = {text.slice(0, at), text.slice(at, at + separator.size()), text.slice(at + separator.size(), text.size())};
  }
  return texts(session, std::move(parts), Kind::tuple);
}

Value replace(Session& session, const Value& self, Args& args) {
  if (!args.named.empty()) return session.error("str.replace() takes no keyword arguments");
  Bound a(session, "replace", args, {"old", "new", "count"}, 2);
  if (!a.ok()) return {};
  const Text from = a.text(0, ""), to = a.text(1, "");
  const int64_t count = a.integer(2, -1);
  return a.ok() ? replace_all(session, self.text(), from, to, count) : Value();
}

Value join(Session& session, const Value& self, Args& args) {
  Bound a(session, "join", args, {"iterable"}, 1);
  std::vector<Value> items;
  if (!a.ok()) return {};
  if (a[0].is_undefined()) return session.text("");
  if (!iterate(session, a[0], &items)) return {};
  for (const Value& item : items) {
    if (!item.is_text()) return session.error("join: expected a string, " + type_name(item) + " found");
  }
  return join_texts(session, self.text(), items);
}

// self[start:end] by code points, as bytes [*begin, *end); false: empty because start is past the end.
bool window(Bound& a, const Text& text, size_t* begin, size_t* end) {
  const auto size = static_cast<int64_t>(num_chars(text.view()));
  const auto place = [&](size_t k, int64_t otherwise) {
    const int64_t at = a.has(k) && !a[k].is(Kind::none) ? a.integer(k, otherwise) : otherwise;
    return at < 0 ? std::max<int64_t>(at + size, 0) : at;
  };
  const int64_t first = place(1, 0), last = std::min(place(2, size), size);
  if (first > last) return false;
  *begin = byte_of_char(text.view(), static_cast<size_t>(first));
  *end = byte_of_char(text.view(), static_cast<size_t>(last));
  return true;
}

template <bool from_right, bool must>
Value find(Session& session, const Value& self, Args& args) {
  Bound a(session, "find", args, {"sub", "start", "end"}, 1);
  if (!a.ok()) return {};
  const Text& text = self.text();
  const Text part = a.text(0, "");
  size_t begin = 0, end = 0, found = std::string_view::npos;
  const bool is_window = window(a, text, &begin, &end);
  if (!a.ok() || !session.bytes(text.size())) return {};
  if (is_window) {
    const std::string_view view = text.view().substr(begin, end - begin);
    found = from_right ? view.rfind(part.view()) : view.find(part.view());
  }
  if (found != std::string_view::npos)
    return Value::integer(static_cast<int64_t>(num_chars(text.view().substr(0, begin + found))));
  return must ? session.error("substring not found") : Value::integer(-1);
}

Value count(Session& session, const Value& self, Args& args) {
  Bound a(session, "count", args, {"sub", "start", "end"}, 1);
  if (!a.ok()) return {};
  const Text& text = self.text();
  const Text part = a.text(0, "");
  size_t begin = 0, end = 0;
  const bool is_window = window(a, text, &begin, &end);
  if (!a.ok() || !session.bytes(text.size())) return {};
  if (!is_window) return Value::integer(0);
  const std::string_view view = text.view().substr(begin, end - begin);
  if (part.empty()) return Value::integer(static_cast<int64_t>(num_chars(view)) + 1);
  int64_t n = 0;
  for (size_t at = view.find(part.view()); at != std::string_view::npos; at = view.find(part.view(), at + part.size())) ++n;
  return Value::integer(n);
}

template <bool at_end>
Value affix(Session& session, const Value& self, Args& args) {
  Bound a(session, at_end ? "endswith" : "startswith", args, {"prefix", "start", "end"}, 1);
  if (!a.ok()) return {};
  size_t begin = 0, end = 0;
  const bool is_window = window(a, self.text(), &begin, &end);
  const std::vector<Value> options = a[0].is(Kind::tuple) ? a[0].items() : std::vector<Value>{a[0]};
  const std::string_view view = is_window ? self.text().view().substr(begin, end - begin) : std::string_view();
  if (!a.ok() || !session.step(options.size())) return {};
  for (const Value& option : options) {
    if (!option.is_text()) return session.error("startswith or endswith: a string is needed, not " + type_name(option));
    const std::string_view part = option.text().view();
    if (is_window && (at_end ? view.ends_with(part) : view.starts_with(part))) return Value::boolean(true);
  }
  return Value::boolean(false);
}

template <bool at_end>
Value without_affix(Session& session, const Value& self, Args& args) {
  Bound a(session, "removeprefix", args, {"prefix"}, 1);
  if (!a.ok()) return {};
  const Text part = a.text(0, "");
  const Text& text = self.text();
  if (!a.ok() || !(at_end ? text.view().ends_with(part.view()) : text.view().starts_with(part.view()))) return self;
  return session.text(at_end ? text.slice(0, text.size() - part.size()) : text.slice(part.size(), text.size()));
}

enum class Side : uint8_t { left, right, both };

template <Side side>
Value justify(Session& session, const Value& self, Args& args) {
  Bound a(session, "ljust", args, {"width", "fillchar"}, 1);
  const int64_t width = a.integer(0, 0);
  const Text fill = a.text(1, " ");
  if (!a.ok()) return {};
  if (num_chars(fill.view()) != 1) return session.error("the fill character must be exactly one character long");
  if (side == Side::both) return pad_center(session, self.text(), width, fill);
  const int64_t pad = std::max<int64_t>(width - static_cast<int64_t>(num_chars(self.text().view())), 0);
  TextBuilder out(session);
  if (side == Side::right) out.repeat(fill, static_cast<uint64_t>(pad));
  out.add(self.text());
  if (side == Side::left) out.repeat(fill, static_cast<uint64_t>(pad));
  return out.finish();
}

Value zfill(Session& session, const Value& self, Args& args) {
  Bound a(session, "zfill", args, {"width"}, 1);
  const int64_t width = a.integer(0, 0);
  if (!a.ok()) return {};
  const Text& text = self.text();
  const size_t sign = !text.empty() && (text.view()[0] == '-' || text.view()[0] == '+') ? 1 : 0;
  TextBuilder out(session);
  out.add(text, 0, sign);
  out.pad('0', static_cast<uint64_t>(std::max<int64_t>(width - static_cast<int64_t>(num_chars(text.view())), 0)));
  out.add(text, sign, text.size());
  return out.finish();
}

Value expandtabs(Session& session, const Value& self, Args& args) {
  Bound a(session, "expandtabs", args, {"tabsize"});
  const int64_t size = a.integer(0, 8);
  if (!a.ok()) return {};
  const Text& text = self.text();
  TextBuilder out(session);
  int64_t column = 0;
  for (size_t at = 0, end = 0; at < text.size() && !session.failed(); at = end) {
    const char32_t c = decode_at(text.view(), at, &end);
    if (c == '\t') {
      const int64_t pad = size > 0 ? size - column % size : 0;
      out.pad(' ', static_cast<uint64_t>(pad));
      column += pad;
    } else {
      out.add(text, at, end);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
  }
  return out.finish();
}

Value format(Session& session, const Value& self, Args& args) { return format_braces(session, self.text(), args); }

constexpr Entry<Method> kMethods[] = {
    {"capitalize", cased<Case::capitalize>},
    {"casefold", cased<Case::lower>},
    {"center", justify<Side::both>},
    {"count", count},
    {"endswith", affix<true>},
    {"expandtabs", expandtabs},
    {"find", find<false, false>},
    {"format", format},
    {"index", find<false, true>},
    {"join", join},
    {"ljust", justify<Side::left>},
    {"lower", cased<Case::lower>},
    {"lstrip", stripped<true, false>},
    {"partition", partition<false>},
    {"removeprefix", without_affix<false>},
    {"removesuffix", without_affix<true>},
    {"replace", replace},
    {"rfind", find<true, false>},
    {"rindex", find<true, true>},
    {"rjust", justify<Side::right>},
    {"rpartition", partition<true>},
    {"rsplit", split<true>},
    {"rstrip", stripped<false, true>},
    {"split", split<false>},
    {"splitlines", splitlines},
    {"startswith", affix<false>},
    {"strip", stripped<true, true>},
    {"swapcase", cased<Case::swap>},
    {"title", cased<Case::title>},
    {"upper", cased<Case::upper>},
    {"zfill", zfill},
};

}  // namespace

Method find_text_method(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kMethods), std::end(kMethods), [&](const auto& entry) { return entry.name == name; });
  return found == std::end(kMethods) ? nullptr : found->function;
}

}  // namespace gainz::jinja
