#include "template/format.h"

#include <charconv>
#include <cmath>

#include "template/objects.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

char hex_digit(unsigned value) { return "0123456789abcdef"[value & 15]; }

void append_escape(char32_t c, std::string* out) {
  const int digits = c > 0xFFFF ? 8 : (c > 0xFF ? 4 : 2);
  *out += c > 0xFFFF ? "\\U" : (c > 0xFF ? "\\u" : "\\x");
  for (int k = digits - 1; k >= 0; --k) *out += hex_digit(static_cast<unsigned>(c >> (4 * k)));
}

bool text_repr(TextBuilder& out, const Text& text) {
  const bool has_single = text.view().find('\'') != std::string_view::npos;
  const char quote = has_single && text.view().find('"') == std::string_view::npos ? '"' : '\'';
  bool good = out.add(std::string(1, quote));
  size_t clean = 0;  // what lies between clean and at is copied as it is
  for (size_t at = 0, end = 0; good && at < text.size(); at = end) {
    const char32_t c = decode_at(text.view(), at, &end);
    std::string escape;
    if (c == '\\' || c == static_cast<char32_t>(quote)) {
      escape = {'\\', static_cast<char>(c)};
    } else if (c == '\n' || c == '\t' || c == '\r') {
      escape = c == '\n' ? "\\n" : (c == '\t' ? "\\t" : "\\r");
    } else if (!is_printable(c)) {
      append_escape(c, &escape);
    } else {
      continue;
    }
    good = out.add(text, clean, at) && out.add(escape, text.user_in(at, end));
    clean = end;
  }
  return good && out.add(text, clean, text.size()) && out.add(std::string(1, quote));
}

bool list_repr(Session& session, TextBuilder& out, const Value& value) {
  const char* open = "[";
  const char* close = "]";
  if (value.is(Kind::tuple)) {
    open = "(";
    close = value.items().size() == 1 ? ",)" : ")";
  } else if (value.is(Kind::view)) {
    out.add(value.list().label);
    open = "([";
    close = "])";
  }
  bool good = out.add(open);
  bool is_first = true;
  for (const Value& item : value.items()) {
    if (!good) return false;
    good = (is_first || out.add(", ")) && append_repr(session, out, item);
    is_first = false;
  }
  return good && out.add(close);
}

bool dict_repr(Session& session, TextBuilder& out, const Value& value) {
  bool good = out.add("{");
  bool is_first = true;
  for (const auto& [key, item] : value.dict().entries) {
    if (!good) return false;
    good = (is_first || out.add(", ")) && append_repr(session, out, key) && out.add(": ") && append_repr(session, out, item);
    is_first = false;
  }
  return good && out.add("}");
}

bool object_repr(Session& session, TextBuilder& out, const Value& value) {
  if (const auto* space = value.object<NamespaceObject>()) {
    if (session.deep()) return false;
    bool good = out.add("<Namespace {");
    bool is_first = true;
    for (const auto& [name, item] : space->attributes) {
      if (!good) return false;
      good = (is_first || out.add(", ")) && append_repr(session, out, session.text(name)) && out.add(": ") &&
             append_repr(session, out, item);
      is_first = false;
    }
    return good && out.add("}>");
  }
  if (const auto* loop = value.object<LoopObject>()) {
    return out.add("<LoopContext " + std::to_string(loop->index0 + 1) + "/" + std::to_string(loop->items.size()) + ">");
  }
  if (const auto* macro = value.object<MacroObject>()) return out.add("<Macro '" + macro->macro->name + "'>");
  return out.add(std::string("<") + static_cast<const Object*>(value.ref.get())->type() + ">");
}

bool range_repr(TextBuilder& out, const RangeRef& range) {
  std::string text = "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
  if (range.step != 1) text += ", " + std::to_string(range.step);
  return out.add(text + ")");
}

}  // namespace

std::string real_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string digits(buffer, end);
  const size_t e = digits.find('e');
  const int exponent = std::stoi(digits.substr(e + 1));
  if (exponent < -4 || exponent >= 16) return digits;
  const auto fixed_end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  std::string fixed(buffer, fixed_end);
  if (fixed.find('.') == std::string::npos) fixed += ".0";
  return fixed;
}

std::string real_fixed(double value, int precision) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string buffer(400 + static_cast<size_t>(precision), '\0');
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, precision).ptr;
  buffer.resize(static_cast<size_t>(end - buffer.data()));
  return buffer;
}

bool append_repr(Session& session, TextBuilder& out, const Value& value) {
  if (!session.step() || session.deep()) return false;
  switch (value.kind) {
    case Kind::undefined:
      return out.add("Undefined");
    case Kind::none:
      return out.add("None", value.user);
    case Kind::boolean:
      return out.add(value.b ? "True" : "False", value.user);
    case Kind::integer:
      return out.add(std::to_string(value.i), value.user);
    case Kind::real:
      return out.add(real_repr(value.d), value.user);
    case Kind::text:
      return text_repr(out, value.text());
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
      return list_repr(session, out, value);
    case Kind::dict:
      return dict_repr(session, out, value);
    case Kind::range:
      return range_repr(out, value.range());
    case Kind::generator:
      return out.add("<generator object>");
    case Kind::function:
      return out.add("<function " + value.function().name + ">");
    case Kind::object:
      return object_repr(session, out, value);
  }
  return false;
}

bool append_str(Session& session, TextBuilder& out, const Value& value) {
  if (value.is_text()) return out.add(value.text());
  if (value.is_undefined()) return !session.failed();
  return append_repr(session, out, value);
}

Value to_str(Session& session, const Value& value) {
  if (value.is_text()) return value;
  TextBuilder out(session);
  append_str(session, out, value);
  return out.finish();
}

}  // namespace gainz::jinja
