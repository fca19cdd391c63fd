// '...' % values and '...'.format(values).
#include <charconv>

#include "template/format.h"
#include "template/format_spec.h"
#include "template/operators.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

class PercentFormatter {
 public:
  PercentFormatter(Session& session, const Text& format, const Value& values)
      : session_(session), format_(format), view_(format.view()), values_(values), out_(session) {}
  Value run();

 private:
  bool field();
  bool named_value(Value* out);
  bool next_value(Value* out);
  bool number(uint64_t* out);
  bool convert(const Value& value, FormatSpec& spec, char type);
  char peek() const { return at_ < view_.size() ? view_[at_] : '\0'; }
  bool fail(const std::string& what) {
    session_.error(what);
    return false;
  }

  Session& session_;
  const Text& format_;
  std::string_view view_;
  const Value& values_;
  TextBuilder out_;
  size_t at_ = 0;
  size_t used_ = 0;
  bool by_name_ = false;
};

Value PercentFormatter::run() {
  while (at_ < view_.size()) {
    const size_t found = std::min(view_.find('%', at_), view_.size());
    out_.add(format_, at_, found);
    at_ = found;
    if (at_ < view_.size() && !field()) return {};
  }
  const bool is_tuple = values_.is(Kind::tuple);
  const bool all_used =
      by_name_ || values_.is(Kind::dict) || values_.is(Kind::list) || used_ >= (is_tuple ? values_.items().size() : 1);
  if (!all_used) return session_.error("not all arguments converted during string formatting");
  return out_.finish();
}

bool PercentFormatter::next_value(Value* out) {
  const bool is_tuple = values_.is(Kind::tuple);
  if (used_ >= (is_tuple ? values_.items().size() : 1)) return fail("not enough arguments for format string");
  *out = is_tuple ? values_.items()[used_] : values_;
  ++used_;
  return true;
}

bool PercentFormatter::named_value(Value* out) {
  const size_t end = view_.find(')', at_);
  if (end == std::string_view::npos) return fail("incomplete format key");
  if (!values_.is(Kind::dict)) return fail("format requires a mapping");
  const std::string key(view_.substr(at_ + 1, end - at_ - 1));
  const Value* found = values_.dict().find(std::string_view(key));
  if (!found) return fail("the key '" + key + "' is missing");
  *out = *found;
  by_name_ = true;
  at_ = end + 1;
  return true;
}

bool PercentFormatter::number(uint64_t* out) {
  if (peek() == '*') {
    Value value;
    ++at_;
    if (!next_value(&value)) return false;
    if (!value.is_int() || value.as_int() < 0) return fail("* wants an int");
    *out = static_cast<uint64_t>(value.as_int());
    return true;
  }
  const auto end = std::from_chars(view_.data() + at_, view_.data() + view_.size(), *out);
  if (end.ec == std::errc::result_out_of_range) return fail("width too big");
  at_ = static_cast<size_t>(end.ptr - view_.data());
  return true;
}

bool PercentFormatter::field() {
  ++at_;
  FormatSpec spec;
  Value value;
  bool has_value = false;
  if (peek() == '(') {
    if (!named_value(&value)) return false;
    has_value = true;
  }
  bool zero = false;
  for (; peek() != '\0' && std::string_view("#0- +").find(peek()) != std::string_view::npos; ++at_) {
    if (peek() == '#') spec.alternate = true;
    if (peek() == '0') zero = true;
    if (peek() == '-') spec.align = '<';
    if (peek() == '+' || (peek() == ' ' && spec.sign == '-')) spec.sign = peek();
  }
  if (!number(&spec.width)) return false;
  if (peek() == '.') {
    ++at_;
    uint64_t precision = 0;
    if (!number(&precision)) return false;
    if (precision > 1000) return fail("precision too big");
    spec.precision = static_cast<int>(precision);
  }
  while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
  const char type = peek();
  if (type == '\0') return fail("incomplete format");
  ++at_;
  if (type == '%') return out_.add("%");
  if (!has_value && !next_value(&value)) return false;
  if (zero && spec.align == 0 && type != 's' && type != 'r' && type != 'a' && type != 'c') {
    spec.align = '=';
    spec.fill = "0";
  }
  if (spec.align == 0) spec.align = '>';
  return convert(value, spec, type);
}

bool PercentFormatter::convert(const Value& value, FormatSpec& spec, char type) {
  switch (type) {
    case 's':
      return append_formatted(session_, out_, to_str(session_, value), spec);
    case 'r':
    case 'a': {
      TextBuilder repr(session_);
      append_repr(session_, repr, value);
      return append_formatted(session_, out_, repr.finish(), spec);
    }
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      if (!value.is_number()) return fail(std::string("%") + type + " format: a number is required, not " + type_name(value));
      Value integer = value;
      if (value.is(Kind::real)) {
        if (type == 'x' || type == 'X' || type == 'o') return fail(std::string("%") + type + " format: an integer is required");
        if (!(value.d > -9.2e18 && value.d < 9.2e18)) return fail("an integer does not fit 64 bits");
        integer = Value::integer(static_cast<int64_t>(value.d), value.user);
      }
      spec.type = type == 'i' || type == 'u' ? 'd' : type;
      if (spec.precision >= 0) {  // the least number of digits
        spec.fill = spec.precision > 0 && spec.align == '>' && spec.width == 0 ? "0" : spec.fill;
        if (spec.fill == "0") {
          spec.align = '=';
          spec.width = static_cast<uint64_t>(spec.precision) + (integer.as_int() < 0 ? 1 : 0);
        }
        spec.precision = -1;
      }
      return append_formatted(session_, out_, Value::integer(integer.as_int(), integer.user), spec);
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (!value.is_number()) return fail("must be real number, not " + type_name(value));
      spec.type = type;
      return append_formatted(session_, out_, value, spec);
    case 'c': {
      if (value.is_text() && num_chars(value.text().view()) == 1) return append_formatted(session_, out_, value, spec);
      const bool fits = value.is_int() && value.as_int() >= 0 && value.as_int() <= 0x10FFFF &&
                        (value.as_int() < 0xD800 || value.as_int() > 0xDFFF);
      if (!fits) return fail("%c requires int or char");
      std::string bytes;
      encode(static_cast<char32_t>(value.as_int()), &bytes);
      return append_formatted(session_, out_, session_.text(Text(bytes, value.user)), spec);
    }
    default:
      return fail(std::string("unsupported format character '") + type + "'");
  }
}

class BraceFormatter {
 public:
  BraceFormatter(Session& session, const Text& format, const Args& args)
      : session_(session), format_(format), view_(format.view()), args_(args), out_(session) {}
  Value run();

 private:
  bool field();
  bool value_of(std::string_view name, Value* out);
  bool path(std::string_view rest, Value* value);
  bool nested(std::string_view spec, std::string* out);
  bool fail(const std::string& what) {
    session_.error(what);
    return false;
  }

  Session& session_;
  const Text& format_;
  std::string_view view_;
  const Args& args_;
  TextBuilder out_;
  size_t at_ = 0;
  size_t next_ = 0;
  bool automatic_ = false, manual_ = false;
};

Value BraceFormatter::run() {
  while (at_ < view_.size()) {
    const size_t found = std::min(view_.find_first_of("{}", at_), view_.size());
    out_.add(format_, at_, found);
    at_ = found;
    if (at_ >= view_.size()) break;
    if (at_ + 1 < view_.size() && view_[at_ + 1] == view_[at_]) {
      out_.add(format_, at_, at_ + 1);
      at_ += 2;
      continue;
    }
    if (view_[at_] == '}') return session_.error("Single '}' encountered in format string");
    if (!field()) return {};
  }
  return out_.finish();
}

bool BraceFormatter::field() {
  size_t end = at_ + 1;
  for (int depth = 1; end < view_.size(); ++end) {
    depth += view_[end] == '{' ? 1 : (view_[end] == '}' ? -1 : 0);
    if (depth == 0) break;
  }
  if (end >= view_.size()) return fail("expected '}' before end of string");
  const std::string_view body = view_.substr(at_ + 1, end - at_ - 1);
  const size_t colon = std::min(body.find(':'), body.size());
  const size_t bang = std::min(body.substr(0, colon).find('!'), colon);
  Value value;
  if (!value_of(body.substr(0, bang), &value)) return false;
  if (bang < colon) {
    const std::string_view conversion = body.substr(bang + 1, colon - bang - 1);
    if (conversion == "r" || conversion == "a") {
      TextBuilder repr(session_);
      append_repr(session_, repr, value);
      value = repr.finish();
    } else if (conversion == "s") {
      value = to_str(session_, value);
    } else {
      return fail("Unknown conversion specifier");
    }
  }
  std::string text;
  FormatSpec spec;
  at_ = end + 1;
  return nested(colon < body.size() ? body.substr(colon + 1) : std::string_view(), &text) &&
         parse_spec(session_, text, &spec) && append_formatted(session_, out_, value, spec);
}

// The fields inside a format specification, one level: '{:>{width}}'.
bool BraceFormatter::nested(std::string_view spec, std::string* out) {
  for (size_t at = 0; at < spec.size();) {
    if (spec[at] != '{') {
      *out += spec[at++];
      continue;
    }
    const size_t end = spec.find('}', at);
    if (end == std::string_view::npos) return fail("expected '}' before end of string");
    Value value;
    if (!value_of(spec.substr(at + 1, end - at - 1), &value)) return false;
    const Value text = to_str(session_, value);
    if (session_.failed()) return false;
    *out += text.text().bytes();
    at = end + 1;
  }
  return true;
}

bool BraceFormatter::value_of(std::string_view name, Value* out) {
  const size_t end = std::min(name.find_first_of(".["), name.size());
  const std::string_view first = name.substr(0, end);
  size_t index = 0;
  const bool is_number = !first.empty() && first.find_first_not_of("0123456789") == std::string_view::npos;
  if (first.empty() || is_number) {
    (is_number ? manual_ : automatic_) = true;
    if (manual_ && automatic_) return fail("cannot switch between manual field specification and automatic field numbering");
    index = next_++;
    if (is_number && std::from_chars(first.data(), first.data() + first.size(), index).ec != std::errc()) index = ~size_t{0};
    if (index >= args_.positional.size()) return fail("Replacement index out of range for positional args tuple");
    *out = args_.positional[index];
    return path(name.substr(end), out);
  }
  for (const auto& [key, value] : args_.named) {
    if (key != first) continue;
    *out = value;
    return path(name.substr(end), out);
  }
  return fail("the key '" + std::string(first) + "' is missing");
}

bool BraceFormatter::path(std::string_view rest, Value* value) {
  while (!rest.empty() && !session_.failed()) {
    if (rest[0] == '.') {
      const size_t end = std::min(rest.find_first_of(".[", 1), rest.size());
      *value = get_attribute(session_, *value, rest.substr(1, end - 1));
      rest.remove_prefix(end);
      continue;
    }
    const size_t end = rest.find(']');
    if (end == std::string_view::npos) return fail("Missing ']' in format string");
    const std::string_view key = rest.substr(1, end - 1);
    int64_t index = 0;
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), index);
    const bool is_index = parsed.ec == std::errc() && parsed.ptr == key.data() + key.size() && !key.empty() && key[0] != '-';
    *value = get_item(session_, *value, is_index ? Value::integer(index) : session_.text(key));
    if (value->is_undefined()) return session_.failed() ? false : (session_.undefined_error(*value), false);
    rest.remove_prefix(end + 1);
  }
  return !session_.failed();
}

}  // namespace

Value format_percent(Session& session, const Text& format, const Value& values) {
  return session.failed() || session.deep() ? Value() : PercentFormatter(session, format, values).run();
}

Value format_braces(Session& session, const Text& format, const Args& args) {
  return session.failed() || session.deep() ? Value() : BraceFormatter(session, format, args).run();
}

}  // namespace gainz::jinja
