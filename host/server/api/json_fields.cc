#include "server/api/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_text.h"
#include "base/text.h"
#include "server/api/unique_json.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;
constexpr size_t kMaxShownBytes = 60;
constexpr double kMaxExactInteger = 9007199254740992;  // 2^53

// Of a document that was refused for its depth or its size the parser says no more than that.
std::string sentence_of(const boost::system::error_code& error, size_t max_depth, size_t offset) {
  if (error == json::error::too_deep) return fmt::format("the body is nested deeper than the limit of {}", max_depth);
  if (error == json::error::object_too_large) return fmt::format("an object of the body has more than {} names", kMaxNames);
  return fmt::format("the body is no valid JSON: {} near byte {}", error.message(), offset);
}

// The beginning of a text, in at most that many bytes.
std::string whole_characters(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

}  // namespace

std::string shown_json(const json::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return value.is_string() ? shown_text(value.get_string()) : json_text(value);
}

std::string shown_text(std::string_view text) {
  const std::string cut = whole_characters(text, kMaxShownBytes);
  return fmt::format("\"{}\"{}", printable(cut), cut.size() < text.size() ? "..." : "");
}

std::string shown_name(std::string_view name) {
  const std::string cut = whole_characters(name, kMaxShownBytes);
  return fmt::format("{}{}", printable(cut), cut.size() < name.size() ? "..." : "");
}

double shortest(float value) {
  const std::string text = fmt::format("{}", value);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::string json_quoted(std::string_view text) { return json::serialize(json::string(valid_utf8(text))); }

json::object parse_body(std::string_view body, size_t max_depth) {
  UniqueJson parsed = parse_unique_json(body, max_depth);
  if (!parsed.problem.empty()) {
    const std::string name = shown_name(parsed.where);
    throw bad_request(name, fmt::format("{} {}", name, parsed.problem), "invalid_value");
  }
  if (parsed.error) throw bad_request("", sentence_of(parsed.error, max_depth, parsed.offset));
  if (!parsed.value.is_object())
    throw bad_request("", fmt::format("the body must be a JSON object, not {}", shown_json(parsed.value)));
  return std::move(parsed.value.get_object());
}

std::string JsonFields::name_of(std::string_view field) const {
  return path_.empty() ? std::string(field) : fmt::format("{}.{}", path_, field);
}

void JsonFields::wrong(std::string_view name, const json::value& value, std::string_view must) const {
  const std::string full = name_of(name);
  throw bad_request(full, fmt::format("{} must be {}, not {}", full, must, shown_json(value)), "invalid_value");
}

const json::value* JsonFields::any(std::string_view name) {
  const json::value* value = object_.if_contains(name);
  if (value == nullptr) return nullptr;
  read_.insert(name);
  return value->is_null() ? nullptr : value;
}

std::optional<std::string> JsonFields::text(std::string_view name) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) wrong(name, *value, "a text");
  return std::string(value->get_string());
}

std::string JsonFields::required_text(std::string_view name) {
  std::optional<std::string> value = text(name);
  if (!value) throw bad_request(name_of(name), fmt::format("{} is missing", name_of(name)), "missing_required_parameter");
  return *std::move(value);
}

std::optional<std::string> JsonFields::choice(std::string_view name, std::initializer_list<std::string_view> choices) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const std::string text(value->get_string());
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  }
  wrong(name, *value, fmt::format("\"{}\"", fmt::join(choices, "\" or \"")));
}

std::optional<int64_t> JsonFields::integer(std::string_view name, int64_t least, int64_t most) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  std::optional<int64_t> out;
  if (value->is_int64()) out = value->get_int64();
  if (value->is_double() && std::trunc(value->get_double()) == value->get_double() &&
      std::abs(value->get_double()) <= kMaxExactInteger)
    out = static_cast<int64_t>(value->get_double());
  if (!out || *out < least || *out > most) wrong(name, *value, fmt::format("an integer from {} to {}", least, most));
  return out;
}

std::optional<double> JsonFields::number(std::string_view name, double least, double most) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) wrong(name, *value, fmt::format("a number from {} to {}", least, most));
  const double out = value->to_number<double>();
  if (!(out >= least && out <= most)) wrong(name, *value, fmt::format("a number from {} to {}", least, most));
  return out;
}

std::optional<bool> JsonFields::boolean(std::string_view name) {
  const json::value* value = any(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_bool()) wrong(name, *value, "true or false");
  return value->get_bool();
}

const json::array* JsonFields::array(std::string_view name, size_t most) {
  const json::value* value = any(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) wrong(name, *value, "a list");
  if (value->get_array().size() > most) {
    throw bad_request(name_of(name),
                      fmt::format("{} has {} items, more than the limit of {}", name_of(name), value->get_array().size(), most),
                      "invalid_value");
  }
  return &value->get_array();
}

const json::object* JsonFields::object(std::string_view name) {
  const json::value* value = any(name);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) wrong(name, *value, "an object");
  return &value->get_object();
}

void JsonFields::accept(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) any(name);
}

void JsonFields::refuse(std::initializer_list<std::string_view> names, std::string_view why) {
  for (const std::string_view name : names) {
    const json::value* value = any(name);
    if (value == nullptr || (value->is_array() && value->get_array().empty())) continue;
    throw bad_request(name_of(name), fmt::format("{} is not supported: {}", name_of(name), why), "unsupported_parameter");
  }
}

void JsonFields::finish() const {
  for (const json::key_value_pair& item : object_) {
    if (item.value().is_null() || read_.contains(item.key())) continue;
    const std::string full = shown_name(name_of(item.key()));
    throw bad_request(full, fmt::format("Unrecognized request argument supplied: {}", full), "unknown_parameter");
  }
}

}  // namespace gainz::host
