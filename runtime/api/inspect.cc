// gainz_inspect: what a model file holds, as JSON.
#include <cmath>
#include <cstdio>

#include "api/runtime.h"
#include "gguf/tensor_type.h"

namespace gainz {
namespace {

constexpr size_t kMaxItems = 8;          // of an array
constexpr size_t kMaxTextBytes = 65536;  // of one text

// Bytes as a JSON string; what is not UTF-8 becomes U+FFFD.
void append_string(std::string& out, std::string_view text) {
  out += '"';
  const std::string_view cut = text.substr(0, kMaxTextBytes);
  for (size_t i = 0; i < cut.size();) {
    const unsigned char c = static_cast<unsigned char>(cut[i]);
    const size_t length = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    bool whole = length > 0 && i + length <= cut.size();
    for (size_t k = 1; whole && k < length; ++k) whole = (static_cast<unsigned char>(cut[i + k]) & 0xC0) == 0x80;
    if (whole && length == 3) {
      const unsigned char second = static_cast<unsigned char>(cut[i + 1]);
      whole = !(c == 0xE0 && second < 0xA0) && !(c == 0xED && second >= 0xA0);
    } else if (whole && length == 4) {
      const unsigned char second = static_cast<unsigned char>(cut[i + 1]);
      whole = !(c == 0xF0 && second < 0x90) && !(c == 0xF4 && second >= 0x90);
    }
    if (!whole) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else if (c == '"' || c == '\\' || c < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), c < 0x20 ? "\\u%04x" : "\\%c", c);
      out += escaped;
      ++i;
    } else {
      out.append(cut, i, length);
      i += length;
    }
  }
  out += '"';
}

void append_number(std::string& out, double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
  out += std::isfinite(value) ? text : std::signbit(value) ? "\"-inf\"" : std::isnan(value) ? "\"nan\"" : "\"inf\"";
}

void append_array(std::string& out, std::string_view key, const GgufArray& array, const Gguf& file) {
  out += "{\"type\":";
  append_string(out, gguf_value_type_name(array.element_type));
  out += ",\"size\":" + std::to_string(array.size) + ",\"first\":[";
  const size_t count = std::min(array.size, kMaxItems);
  if (array.element_type == 8) {
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out += ',';
      append_string(out, array.strings[i]);
    }
  } else if (const auto integers = file.integers(key); integers.ok()) {
    for (size_t i = 0; i < count; ++i) out += (i > 0 ? "," : "") + std::to_string((*integers)[i]);
  } else if (const auto floats = file.floats(key); floats.ok()) {
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out += ',';
      append_number(out, (*floats)[i]);
    }
  }
  out += "]}";
}

void append_value(std::string& out, std::string_view key, const GgufValue& value, const Gguf& file) {
  if (const auto* u = std::get_if<uint64_t>(&value))
    out += std::to_string(*u);
  else if (const auto* i = std::get_if<int64_t>(&value))
    out += std::to_string(*i);
  else if (const auto* d = std::get_if<double>(&value))
    append_number(out, *d);
  else if (const auto* b = std::get_if<bool>(&value))
    out += *b ? "true" : "false";
  else if (const auto* s = std::get_if<std::string_view>(&value))
    append_string(out, *s);
  else
    append_array(out, key, std::get<GgufArray>(value), file);
}

void append_tensor(std::string& out, const GgufTensor& tensor) {
  out += "{\"name\":";
  append_string(out, tensor.name);
  out += ",\"type\":";
  const TensorType* type = find_tensor_type(tensor.type);
  append_string(out, type ? type->name : "unknown");
  out += ",\"dims\":[";
  for (size_t i = 0; i < tensor.dims.size(); ++i) out += (i > 0 ? "," : "") + std::to_string(tensor.dims[i]);
  out += "],\"bytes\":" + std::to_string(gguf_tensor_bytes(tensor)) + "}";
}

}  // namespace

Result<std::string> inspect_file(const std::string& path) {
  GAINZ_ASSIGN(const auto file, Gguf::open(path, {}));
  std::string out = "{\"path\":";
  append_string(out, path);
  out += ",\"architecture\":";
  const auto architecture = file->string_or("general.architecture", "");
  append_string(out, architecture.ok() ? *architecture : "");
  out += ",\"bytes\":" + std::to_string(file->size_bytes()) + ",\"metadata\":{";
  bool first = true;
  for (const auto& [key, value] : file->metadata()) {
    if (!std::exchange(first, false)) out += ',';
    append_string(out, key);
    out += ':';
    append_value(out, key, value, *file);
  }
  out += "},\"num_tensors\":" + std::to_string(file->tensors().size()) + ",\"tensors\":[";
  first = true;
  for (const GgufTensor& tensor : file->tensors()) {
    if (!std::exchange(first, false)) out += ',';
    append_tensor(out, tensor);
  }
  out += "]}";
  return out;
}

}  // namespace gainz
