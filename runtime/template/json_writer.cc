#include <algorithm>
#include <cmath>

#include "template/format.h"
#include "template/json.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

void append_u(char32_t unit, std::string* out) {
  *out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) *out += "0123456789abcdef"[(unit >> shift) & 15];
}

// The escape of a character that cannot stand as it is; empty if it can.
std::string json_escape(char32_t c, bool ascii) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    default:
      break;
  }
  std::string out;
  if (c < 0x20 || (ascii && c > 0x7E && c <= 0xFFFF)) {
    append_u(c, &out);
  } else if (ascii && c > 0xFFFF) {
    append_u(0xD800 + ((c - 0x10000) >> 10), &out);
    append_u(0xDC00 + ((c - 0x10000) & 0x3FF), &out);
  }
  return out;
}

class Writer {
 public:
  Writer(Session& session, const JsonStyle& style) : session_(session), style_(style), out_(session) {}
  Value run(const Value& value) {
    write(value, 0);
    return out_.finish();
  }

 private:
  bool write(const Value& value, int depth);
  bool text(const Text& text);
  bool list(const std::vector<Value>& items, int depth);
  bool dict(const DictRef& dict, int depth);
  bool key(const Value& value);
  bool newline(int depth);
  std::string scalar(const Value& value);

  Session& session_;
  const JsonStyle& style_;
  TextBuilder out_;
};

bool Writer::newline(int depth) {
  if (!style_.has_indent) return true;
  return out_.add("\n") && out_.repeat(style_.indent, static_cast<uint64_t>(depth));
}

bool Writer::text(const Text& text) {
  bool good = out_.add("\"");
  size_t clean = 0;
  for (size_t at = 0, end = 0; good && at < text.size(); at = end) {
    const std::string escape = json_escape(decode_at(text.view(), at, &end), style_.ascii);
    if (escape.empty()) continue;
    good = out_.add(text, clean, at) && out_.add(escape, text.user_in(at, end));
    clean = end;
  }
  return good && out_.add(text, clean, text.size()) && out_.add("\"");
}

std::string Writer::scalar(const Value& value) {
  switch (value.kind) {
    case Kind::none:
      return "null";
    case Kind::boolean:
      return value.b ? "true" : "false";
    case Kind::integer:
      return std::to_string(value.i);
    default:
      break;
  }
  if (std::isnan(value.d)) return "NaN";
  if (std::isinf(value.d)) return value.d > 0 ? "Infinity" : "-Infinity";
  return real_repr(value.d);
}

bool Writer::write(const Value& value, int depth) {
  if (!session_.step() || session_.deep()) return false;
  if (value.is_text()) return text(value.text());
  if (value.is(Kind::none) || value.is_number()) return out_.add(scalar(value), value.user);
  if (value.is(Kind::list) || value.is(Kind::tuple)) return list(value.items(), depth);
  if (value.is(Kind::dict)) return dict(value.dict(), depth);
  session_.error("Object of type " + type_name(value) + " is not JSON serializable");
  return false;
}

bool Writer::list(const std::vector<Value>& items, int depth) {
  if (items.empty()) return out_.add("[]");
  bool good = out_.add("[");
  bool is_first = true;
  for (const Value& item : items) {
    good = good && (is_first || out_.add(style_.item_separator)) && newline(depth + 1) && write(item, depth + 1);
    if (!good) return false;
    is_first = false;
  }
  return newline(depth) && out_.add("]");
}

bool Writer::key(const Value& value) {
  if (value.is_text()) return text(value.text());
  if (value.is(Kind::none) || value.is_number()) return out_.add("\"") && out_.add(scalar(value), value.user) && out_.add("\"");
  session_.error("keys must be str, int, float, bool or None, not " + type_name(value));
  return false;
}

bool Writer::dict(const DictRef& dict, int depth) {
  if (dict.entries.empty()) return out_.add("{}");
  std::vector<const std::pair<Value, Value>*> entries;
  for (const auto& entry : dict.entries) entries.push_back(&entry);
  if (style_.sort_keys) {
    bool comparable = true;
    std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
      int order = 0;
      comparable = compare(a->first, b->first, &order) && comparable;
      return order < 0;
    });
    if (!comparable) session_.error("keys of different types cannot be sorted");
  }
  bool good = !session_.failed() && out_.add("{");
  bool is_first = true;
  for (const auto* entry : entries) {
    good = good && (is_first || out_.add(style_.item_separator)) && newline(depth + 1) && key(entry->first) &&
           out_.add(style_.key_separator) && write(entry->second, depth + 1);
    if (!good) return false;
    is_first = false;
  }
  return newline(depth) && out_.add("}");
}

}  // namespace

Value write_json(Session& session, const Value& value, const JsonStyle& style) { return Writer(session, style).run(value); }

}  // namespace gainz::jinja
