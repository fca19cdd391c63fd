#include "model/keys.h"

#include <cmath>
#include <cstdio>

namespace gainz {
namespace {

constexpr size_t kMaxShown = 8;  // array elements in a message

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::string range_text(uint64_t least, uint64_t most) { return std::to_string(least) + " to " + std::to_string(most); }

Status as_invalid(const Status& status) { return {Code::invalid, status.message()}; }

}  // namespace

Status Keys::wrong(const std::string& key, const std::string& value, const std::string& wanted) const {
  return {Code::invalid, "key " + full(key) + " is " + value + "; " + wanted};
}

bool Keys::has(const std::string& key) {
  const std::string name = full(key);
  if (!file_.has(name)) return false;
  read_.insert(name);
  return true;
}

bool Keys::is_array(const std::string& key) const {
  const auto found = file_.metadata().find(full(key));
  return found != file_.metadata().end() && std::holds_alternative<GgufArray>(found->second);
}

Result<uint32_t> Keys::u32(const std::string& key, uint64_t least, uint64_t most) {
  has(key);
  const Result<uint64_t> value = file_.u64(full(key));
  if (!value.ok()) return as_invalid(value.status());
  if (*value < least || *value > most) return wrong(key, std::to_string(*value), "allowed are " + range_text(least, most));
  return uint32_t(*value);
}

Result<uint32_t> Keys::u32_or(const std::string& key, uint32_t otherwise, uint64_t least, uint64_t most) {
  if (!has(key)) return otherwise;
  return u32(key, least, most);
}

Result<float> Keys::f32(const std::string& key, double least, double most) {
  has(key);
  const Result<double> value = file_.f64(full(key));
  if (!value.ok()) return as_invalid(value.status());
  if (!(*value >= least && *value <= most))
    return wrong(key, number_text(*value), "allowed are " + number_text(least) + " to " + number_text(most));
  return float(*value);
}

Result<float> Keys::f32_or(const std::string& key, float otherwise, double least, double most) {
  if (!has(key)) return otherwise;
  return f32(key, least, most);
}

Result<bool> Keys::boolean_or(const std::string& key, bool otherwise) {
  if (!has(key)) return otherwise;
  const Result<bool> value = file_.boolean(full(key));
  if (!value.ok()) return as_invalid(value.status());
  return *value;
}

Result<std::string> Keys::text_or(const std::string& key, const std::string& otherwise) {
  if (!has(key)) return otherwise;
  const Result<std::string_view> value = file_.string(full(key));
  if (!value.ok()) return as_invalid(value.status());
  return std::string(*value);
}

Result<std::vector<uint32_t>> Keys::per_layer(const std::string& key, uint32_t num_layers, uint64_t least, uint64_t most) {
  has(key);
  const auto values = file_.integers(full(key));
  if (!values.ok()) return as_invalid(values.status());
  const GgufValue& value = file_.metadata().find(full(key))->second;
  const bool array = is_array(key);
  if (array && values->size() != num_layers)
    return wrong(key, "an array of " + std::to_string(values->size()),
                 "the model has " + std::to_string(num_layers) + " layers");
  for (const int64_t v : *values)
    if (v < 0 || uint64_t(v) < least || uint64_t(v) > most)
      return wrong(key, array ? gguf_value_text(value, kMaxShown) : std::to_string(v),
                   "allowed are " + range_text(least, most) + " for each layer");
  std::vector<uint32_t> out(num_layers);
  for (size_t i = 0; i < out.size(); ++i) out[i] = uint32_t((*values)[array ? i : 0]);
  return out;
}

Result<std::vector<uint32_t>> Keys::per_layer_or(const std::string& key, std::vector<uint32_t> otherwise, uint64_t least,
                                                 uint64_t most) {
  if (!has(key)) return otherwise;
  return per_layer(key, uint32_t(otherwise.size()), least, most);
}

Status Keys::only(const std::string& key, double value) {
  if (!has(key)) return {};
  const GgufValue& given = file_.metadata().find(full(key))->second;
  double number = std::nan("");
  if (const auto* b = std::get_if<bool>(&given)) number = *b ? 1 : 0;
  if (const auto* u = std::get_if<uint64_t>(&given)) number = double(*u);
  if (const auto* i = std::get_if<int64_t>(&given)) number = double(*i);
  if (const auto* d = std::get_if<double>(&given)) number = *d;
  if (number == value) return {};
  return {Code::unsupported, "key " + full(key) + " is " +
                                 (std::isnan(number) || std::holds_alternative<bool>(given) ? gguf_value_text(given, kMaxShown)
                                                                                            : number_text(number)) +
                                 "; for architecture " + architecture_ + " only " + number_text(value) + " is supported"};
}

Status Keys::finish() const {
  const std::string prefix = architecture_ + ".";
  for (auto it = file_.metadata().lower_bound(prefix); it != file_.metadata().end() && it->first.starts_with(prefix); ++it) {
    if (read_.contains(it->first)) continue;
    return {Code::unsupported, "key " + std::string(it->first) + " is not known for architecture " + architecture_ +
                                   ", so the model may mean something else than would be computed"};
  }
  return {};
}

}  // namespace gainz
