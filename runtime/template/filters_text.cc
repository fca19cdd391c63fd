// Filters that make text from one value.
#include <algorithm>

#include "template/builtins.h"
#include "template/format.h"
#include "template/json.h"
#include "template/operators.h"
#include "template/text_ops.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

// The value as text, as Jinja's soft_str gives it; then f(text).
template <class F>
Value with_text(Session& session, const Value& self, F f) {
  const Value text = to_str(session, self);
  return session.failed() ? Value() : f(text.text());
}

template <Case how>
Value case_filter(Session& session, const Value& self, const Args& args) {
  if (!Bound(session, "a case filter", args, {}).ok()) return {};
  return with_text(session, self, [&](const Text& text) { return change_case(session, text, how); });
}

bool begins_word(char32_t c) { return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c); }

Value title(Session& session, const Value& self, const Args&) {
  return with_text(session, self, [&](const Text& text) {
    TextBuilder out(session);
    size_t begin = 0;
    const auto word = [&](size_t end) {
      if (begin >= end) return;
      size_t first = 0;
      decode_at(text.view(), begin, &first);
      const Value head = change_case(session, text.slice(begin, first), Case::upper);
      const Value tail = change_case(session, text.slice(first, end), Case::lower);
      if (!session.failed()) out.add(head.text()) && out.add(tail.text());
    };
    for (size_t at = 0, end = 0; at < text.size(); at = end) {
      if (!begins_word(decode_at(text.view(), at, &end))) continue;
      word(at);
      out.add(text, at, end);
      begin = end;
    }
    word(text.size());
    return out.finish();
  });
}

Value trim(Session& session, const Value& self, const Args& args) {
  Bound a(session, "trim", args, {"chars"});
  if (!a.ok()) return {};
  const bool has_chars = a.has(0) && !a[0].is(Kind::none);
  const Text chars = has_chars ? a.text(0, "") : Text();
  if (!a.ok()) return {};
  return with_text(session, self, [&](const Text& text) {
    if (!session.bytes(text.size())) return Value();
    return session.text(strip(text, has_chars ? &chars : nullptr, true, true));
  });
}

Value replace(Session& session, const Value& self, const Args& args) {
  Bound a(session, "replace", args, {"old", "new", "count"}, 2);
  if (!a.ok()) return {};
  const Value from = to_str(session, a[0]);
  const Value to = to_str(session, a[1]);
  const int64_t count = a.has(2) && !a[2].is(Kind::none) ? a.integer(2, -1) : -1;
  if (session.failed()) return {};
  return with_text(session, self, [&](const Text& text) { return replace_all(session, text, from.text(), to.text(), count); });
}

Value string(Session& session, const Value& self, const Args&) { return to_str(session, self); }

Value pprint(Session& session, const Value& self, const Args&) {
  TextBuilder out(session);
  append_repr(session, out, self);
  return out.finish();
}

Value escape(Session& session, const Value& self, const Args&) {
  return with_text(session, self, [&](const Text& text) {
    TextBuilder out(session);
    size_t clean = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      const char* entity = nullptr;
      switch (text.view()[at]) {
        case '&':
          entity = "&amp;";
          break;
        case '<':
          entity = "&lt;";
          break;
        case '>':
          entity = "&gt;";
          break;
        case '\'':
          entity = "&#39;";
          break;
        case '"':
          entity = "&#34;";
          break;
        default:
          continue;
      }
      if (!out.add(text, clean, at) || !out.add(entity, text.user_in(at, at + 1))) return Value();
      clean = at + 1;
    }
    out.add(text, clean, text.size());
    return out.finish();
  });
}

Value center(Session& session, const Value& self, const Args& args) {
  Bound a(session, "center", args, {"width"});
  const int64_t width = a.integer(0, 80);
  if (!a.ok()) return {};
  return with_text(session, self, [&](const Text& text) { return pad_center(session, text, width, Text(" ")); });
}

Value indent(Session& session, const Value& self, const Args& args) {
  Bound a(session, "indent", args, {"width", "first", "blank"});
  if (!a.ok()) return {};
  if (self.is_undefined()) return session.undefined_error(self);
  if (!self.is_text()) return session.error("indent: a string is needed, not " + type_name(self));
  TextBuilder spaces(session);
  if (a.has(0) && a[0].is_text()) {
    spaces.add(a[0].text());
  } else {
    spaces.pad(' ', static_cast<uint64_t>(std::max<int64_t>(a.integer(0, 4), 0)));
  }
  const Value width = spaces.finish();
  if (!a.ok() || session.failed()) return {};
  return indent_lines(session, self.text(), width.text(), a.flag(1, false), a.flag(2, false));
}

Value format(Session& session, const Value& self, const Args& args) {
  if (!args.positional.empty() && !args.named.empty())
    return session.error("format: positional and named values cannot be mixed");
  Value values;
  if (args.named.empty()) {
    values = session.list(args.positional, Kind::tuple);
  } else {
    DictBuilder named(session);
    for (const auto& [name, value] : args.named) named.set(name, value);
    values = named.finish();
  }
  return with_text(session, self, [&](const Text& text) { return format_percent(session, text, values); });
}

// separators=(',', ': ')
bool json_separators(Session& session, const Value& value, JsonStyle* style) {
  std::vector<Value> pair;
  if (!iterate(session, value, &pair)) return false;
  if (pair.size() != 2 || !pair[0].is_text() || !pair[1].is_text()) {
    session.error("tojson: separators must be two strings");
    return false;
  }
  style->item_separator = pair[0].text();
  style->key_separator = pair[1].text();
  return true;
}

Value to_json(Session& session, const Value& self, const Args& args) {
  Bound a(session, "tojson", args, {"ensure_ascii", "indent", "separators", "sort_keys"});
  if (!a.ok()) return {};
  JsonStyle style;
  style.ascii = a.flag(0, false);
  style.sort_keys = a.flag(3, false);
  TextBuilder indent(session);
  if (a.has(1) && !a[1].is(Kind::none)) {
    style.has_indent = true;
    style.item_separator = Text(",");
    if (a[1].is_text()) {
      indent.add(a[1].text());
    } else {
      indent.pad(' ', static_cast<uint64_t>(std::max<int64_t>(a.integer(1, 0), 0)));
    }
  }
  const Value spaces = indent.finish();
  if (session.failed()) return {};
  style.indent = spaces.text();
  if (a.has(2) && !a[2].is(Kind::none) && !json_separators(session, a[2], &style)) return {};
  return write_json(session, self, style);
}

Value word_count(Session& session, const Value& self, const Args&) {
  return with_text(session, self, [&](const Text& text) {
    int64_t count = 0;
    bool in_word = false;
    for (size_t at = 0; at < text.size();) {
      const char32_t c = decode_at(text.view(), at, &at);
      const bool is_word = c == '_' || is_alnum(c);
      count += is_word && !in_word ? 1 : 0;
      in_word = is_word;
    }
    return Value::integer(count);
  });
}

constexpr Entry<Filter> kFilters[] = {
    {"capitalize", case_filter<Case::capitalize>},
    {"center", center},
    {"e", escape},
    {"escape", escape},
    {"forceescape", escape},
    {"format", format},
    {"indent", indent},
    {"lower", case_filter<Case::lower>},
    {"pprint", pprint},
    {"replace", replace},
    {"safe", string},
    {"string", string},
    {"title", title},
    {"tojson", to_json},
    {"trim", trim},
    {"upper", case_filter<Case::upper>},
    {"wordcount", word_count},
};

}  // namespace

std::span<const Entry<Filter>> text_filters() { return kFilters; }

}  // namespace gainz::jinja
