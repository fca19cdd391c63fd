#include "config/schema.h"

#include <fmt/format.h>

#include <cctype>

#include "base/text.h"
#include "config/speculation.h"

namespace gainz::host {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

bool is_choice(std::string_view choices, std::string_view text) {
  if (text.empty() || text.find('|') != std::string_view::npos) return false;
  return fmt::format("|{}|", choices).find(fmt::format("|{}|", text)) != std::string::npos;
}

Failure wrong(const Key& key, std::string_view shown) {
  return Failure{fmt::format("{} must be {}, not {}", dotted_name(key), what_it_must_be(key), shown)};
}

std::string quoted(std::string_view text) {
  constexpr size_t kMaxShown = 60;
  const std::string shown = printable(text.substr(0, kMaxShown));
  return fmt::format("\"{}\"{}", shown, text.size() > kMaxShown ? "..." : "");
}

}  // namespace

std::string dotted_name(const Key& key) {
  return key.section.empty() ? std::string(key.name) : fmt::format("{}.{}", key.section, key.name);
}

std::string environment_name(const Key& key) {
  return key.section.empty() ? "GAINZ_" + upper(key.name) : fmt::format("GAINZ_{}_{}", upper(key.section), upper(key.name));
}

std::string long_flag(const Key& key) {
  const size_t at = key.flag.find("--");
  if (at == std::string_view::npos) return "";
  return std::string(key.flag.substr(at, key.flag.find(',', at) - at));
}

std::string what_it_must_be(const Key& key) {
  switch (key.type) {
    case KeyType::integer:
      return fmt::format("an integer from {:.0f} to {:.0f}", key.least, key.most);
    case KeyType::number:
      return fmt::format("a number from {} to {}", key.least, key.most);
    case KeyType::boolean:
      return "true or false";
    case KeyType::text:
      break;
  }
  if (key.choices.empty()) return "a text";
  std::string list;
  for (const char c : key.choices) list += c == '|' ? std::string("\", \"") : std::string(1, c);
  return fmt::format("{}\"{}\"", key.choices.find('|') == std::string_view::npos ? "" : "one of ", list);
}

Result<Value> parse_value(const Key& key, std::string_view text) {
  switch (key.type) {
    case KeyType::text:
      return check_value(key, std::string(text));
    case KeyType::boolean:
      if (text == "true" || text == "false") return Value(text == "true");
      break;
    case KeyType::integer:
      if (const auto value = parse_integer(text)) return check_value(key, *value);
      break;
    case KeyType::number:
      if (const auto value = parse_number(text)) return check_value(key, *value);
      break;
  }
  return wrong(key, quoted(text));
}

Result<Value> check_value(const Key& key, Value value) {
  if (key.type == KeyType::number && std::holds_alternative<int64_t>(value)) {
    value = static_cast<double>(std::get<int64_t>(value));  // 1 is a fine way to write 1.0
  }
  if (value.index() != static_cast<size_t>(key.type)) return wrong(key, toml_value(value));
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (!key.choices.empty() && !is_choice(key.choices, *text)) return wrong(key, quoted(*text));
    if ((key.flags & kIsSpeculation) != 0) {
      if (const auto parsed = parse_speculation(*text); !parsed.ok())
        return Failure{fmt::format("{} {}", dotted_name(key), parsed.failure().sentence)};
    }
    if (text->find('\0') != std::string::npos) return Failure{dotted_name(key) + " must not hold a zero byte"};
  } else if (key.type != KeyType::boolean) {
    const double number =
        std::holds_alternative<double>(value) ? std::get<double>(value) : static_cast<double>(std::get<int64_t>(value));
    if (!(number >= key.least && number <= key.most)) return wrong(key, toml_value(value));  // not-a-number fails here too
  }
  return value;
}

Value default_value(const Key& key) {
  Result<Value> value = parse_value(key, key.standard);
  return value.ok() ? *value : Value();
}

std::string toml_value(const Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) {
    const std::string text = fmt::format("{}", *number);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  std::string out = "\"";
  for (const char c : std::get<std::string>(value)) {
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string shown_value(const Key& key, const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if ((key.flags & kSecret) != 0 && (text == nullptr || !text->empty())) return "\"***\"";
  return toml_value(value);
}

}  // namespace gainz::host
