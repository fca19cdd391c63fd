// Methods of Python's str that ask about its characters: isalpha and the like.
#include <algorithm>
#include <iterator>

#include "template/builtins.h"
#include "template/methods.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

template <bool (*holds)(char32_t), bool of_empty = false>
Value all_are(Session& session, const Value& self, Args& args) {
  const std::string_view text = self.text().view();
  if (!Bound(session, "a str method", args, {}).ok() || !session.bytes(text.size())) return {};
  for (size_t at = 0; at < text.size();) {
    if (!holds(decode_at(text, at, &at))) return Value::boolean(false);
  }
  return Value::boolean(!text.empty() || of_empty);
}

bool is_ascii(char32_t c) { return c < 0x80; }

// At least one letter with a case, and none of the other.
template <bool (*wanted)(char32_t), bool (*other)(char32_t)>
Value has_case(Session& session, const Value& self, Args& args) {
  const std::string_view text = self.text().view();
  if (!Bound(session, "a str method", args, {}).ok() || !session.bytes(text.size())) return {};
  bool any = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = decode_at(text, at, &at);
    if (other(c) || is_title(c)) return Value::boolean(false);
    any |= wanted(c);
  }
  return Value::boolean(any);
}

Value is_title_case(Session& session, const Value& self, Args& args) {
  const std::string_view text = self.text().view();
  if (!Bound(session, "istitle", args, {}).ok() || !session.bytes(text.size())) return {};
  bool any = false, in_word = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = decode_at(text, at, &at);
    const bool capital = is_upper(c) || is_title(c);
    if ((capital && in_word) || (is_lower(c) && !in_word)) return Value::boolean(false);
    in_word = capital || is_lower(c);
    any |= in_word;
  }
  return Value::boolean(any);
}

Value is_identifier(Session& session, const Value& self, Args& args) {
  const std::string_view text = self.text().view();
  if (!Bound(session, "isidentifier", args, {}).ok() || !session.bytes(text.size())) return {};
  for (size_t at = 0; at < text.size();) {
    const bool first = at == 0;
    const char32_t c = decode_at(text, at, &at);
    if (c != '_' && !is_alpha(c) && (first || !is_alnum(c))) return Value::boolean(false);
  }
  return Value::boolean(!text.empty());
}

constexpr Entry<Method> kPredicates[] = {
    {"isalnum", all_are<is_alnum>},
    {"isalpha", all_are<is_alpha>},
    {"isascii", all_are<is_ascii, true>},
    {"isdecimal", all_are<is_decimal>},
    {"isdigit", all_are<is_digit>},
    {"isidentifier", is_identifier},
    {"islower", has_case<is_lower, is_upper>},
    {"isnumeric", all_are<is_digit>},
    {"isprintable", all_are<is_printable, true>},
    {"isspace", all_are<is_space>},
    {"istitle", is_title_case},
    {"isupper", has_case<is_upper, is_lower>},
};

}  // namespace

Method find_text_predicate(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kPredicates), std::end(kPredicates), [&](const auto& entry) { return entry.name == name; });
  return found == std::end(kPredicates) ? nullptr : found->function;
}

}  // namespace gainz::jinja
