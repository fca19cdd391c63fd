// Typed access to key-values, and their text for messages and listings.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "gguf/gguf.h"
#include "gguf/text.h"

namespace gainz {

namespace {

constexpr std::string_view kTypeNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "bool", "string", "array", "u64", "i64", "f64"};
constexpr uint64_t kTypeBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

std::string number_text(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

template <class T>
T load(std::span<const std::byte> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// Calls use(value) with element i in its own type; false for strings and arrays.
template <class Use>
bool with_number(const GgufArray& array, size_t i, Use use) {
  switch (array.element_type) {
    case 0:
      return use(load<uint8_t>(array.numbers, i)), true;
    case 1:
      return use(load<int8_t>(array.numbers, i)), true;
    case 2:
      return use(load<uint16_t>(array.numbers, i)), true;
    case 3:
      return use(load<int16_t>(array.numbers, i)), true;
    case 4:
      return use(load<uint32_t>(array.numbers, i)), true;
    case 5:
      return use(load<int32_t>(array.numbers, i)), true;
    case 6:
      return use(load<float>(array.numbers, i)), true;
    case 7:
      return use(load<uint8_t>(array.numbers, i)), true;
    case 10:
      return use(load<uint64_t>(array.numbers, i)), true;
    case 11:
      return use(load<int64_t>(array.numbers, i)), true;
    case 12:
      return use(load<double>(array.numbers, i)), true;
    default:
      return false;
  }
}

std::string array_text(const GgufArray& array, size_t max_items) {
  std::string out = joined("an array of ", array.size, " ", gguf_value_type_name(array.element_type));
  if (max_items == 0 || array.size == 0 || array.element_type == 9) return out;
  out += " [";
  for (size_t i = 0; i < std::min(array.size, max_items); ++i) {
    if (i > 0) out += ", ";
    if (array.element_type == 8) out += quoted(array.strings[i]);
    with_number(array, i, [&out](auto value) {
      if constexpr (std::is_floating_point_v<decltype(value)>) {
        out += number_text(value);
      } else {
        out += std::to_string(value);
      }
    });
  }
  return out += array.size > max_items ? ", ...]" : "]";
}

Status absent(std::string_view key) { return {Code::not_found, joined("the model file has no key ", quoted(key))}; }

Status wrong(std::string_view key, const GgufValue& value, std::string_view wanted) {
  return {Code::invalid, joined("key ", quoted(key), " of the model file is ", gguf_value_text(value, 4), ", not ", wanted)};
}

Status bad_element(std::string_view key, size_t index, std::string_view problem) {
  return {Code::invalid, joined("key ", quoted(key), " of the model file: element ", index, " ", problem)};
}

}  // namespace

std::string_view gguf_value_type_name(uint32_t type) { return type < std::size(kTypeNames) ? kTypeNames[type] : "unknown"; }

uint64_t gguf_value_bytes(uint32_t type) { return type < std::size(kTypeBytes) ? kTypeBytes[type] : 0; }

std::string gguf_value_text(const GgufValue& value, size_t max_items) {
  return std::visit(
      [max_items](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, GgufArray>) return array_text(v, max_items);
        if constexpr (std::is_same_v<T, std::string_view>) return joined("the text ", quoted(v));
        if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
        if constexpr (std::is_same_v<T, double>) return joined("the float ", number_text(v));
        if constexpr (std::is_same_v<T, uint64_t> || std::is_same_v<T, int64_t>) return joined("the number ", v);
      },
      value);
}

Result<std::string_view> Gguf::string(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return absent(key);
  if (const auto* value = std::get_if<std::string_view>(&found->second)) return *value;
  return wrong(key, found->second, "a text");
}

Result<uint64_t> Gguf::u64(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return absent(key);
  if (const auto* value = std::get_if<uint64_t>(&found->second)) return *value;
  if (const auto* value = std::get_if<int64_t>(&found->second); value != nullptr && *value >= 0)
    return static_cast<uint64_t>(*value);
  return wrong(key, found->second, "a whole number from 0 on");
}

Result<double> Gguf::f64(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return absent(key);
  if (const auto* value = std::get_if<double>(&found->second)) return *value;
  return wrong(key, found->second, "a float");
}

Result<bool> Gguf::boolean(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return absent(key);
  if (const auto* value = std::get_if<bool>(&found->second)) return *value;
  return wrong(key, found->second, "true or false");
}

Result<std::string_view> Gguf::string_or(std::string_view key, std::string_view otherwise) const {
  return has(key) ? string(key) : Result<std::string_view>(otherwise);
}
Result<uint64_t> Gguf::u64_or(std::string_view key, uint64_t otherwise) const {
  return has(key) ? u64(key) : Result<uint64_t>(otherwise);
}
Result<double> Gguf::f64_or(std::string_view key, double otherwise) const {
  return has(key) ? f64(key) : Result<double>(otherwise);
}
Result<bool> Gguf::boolean_or(std::string_view key, bool otherwise) const {
  return has(key) ? boolean(key) : Result<bool>(otherwise);
}

Result<std::span<const std::string_view>> Gguf::strings(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return absent(key);
  const auto* array = std::get_if<GgufArray>(&found->second);
  if (array == nullptr || array->element_type != 8) return wrong(key, found->second, "an array of texts");
  return std::span<const std::string_view>(array->strings);
}

Result<std::vector<float>> Gguf::floats(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return absent(key);
  const auto* array = std::get_if<GgufArray>(&found->second);
  if (array == nullptr || (array->element_type != 6 && array->element_type != 12)) {
    return wrong(key, found->second, "an array of floats");
  }
  std::vector<float> out(array->size);
  for (size_t i = 0; i < out.size(); ++i) {
    const double value = array->element_type == 6 ? load<float>(array->numbers, i) : load<double>(array->numbers, i);
    if (std::isfinite(value) && std::fabs(value) > std::numeric_limits<float>::max()) {
      return bad_element(key, i, joined("is ", number_text(value), ", beyond a 32-bit float"));
    }
    out[i] = static_cast<float>(value);
  }
  return out;
}

Result<std::vector<int64_t>> Gguf::integers(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return absent(key);
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (const auto* value = std::get_if<int64_t>(&found->second)) return std::vector<int64_t>{*value};
  if (const auto* value = std::get_if<uint64_t>(&found->second); value != nullptr && *value <= kMax) {
    return std::vector<int64_t>{static_cast<int64_t>(*value)};
  }
  const auto* array = std::get_if<GgufArray>(&found->second);
  const bool integral =
      array != nullptr && gguf_value_bytes(array->element_type) != 0 && array->element_type != 6 && array->element_type != 12;
  if (!integral) return wrong(key, found->second, "whole numbers within 64 signed bits");
  std::vector<int64_t> out(array->size);
  for (size_t i = 0; i < out.size(); ++i) {
    if (array->element_type == 10 && load<uint64_t>(array->numbers, i) > kMax) {
      return bad_element(key, i, joined("is ", load<uint64_t>(array->numbers, i), ", beyond 64 signed bits"));
    }
    with_number(*array, i, [&out, i](auto value) {
      if constexpr (std::is_integral_v<decltype(value)>) out[i] = static_cast<int64_t>(value);
    });
  }
  return out;
}

}  // namespace gainz
