#include <cmath>
#include <map>

#include "gguf/limits.h"
#include "gguf/tensor_type.h"
#include "probe/probe.h"
#include "reference/dequantize.h"
#include "sampler/limits.h"
#include "template/limits.h"
#include "tokenizer/limits.h"

namespace gainz::probe {
namespace {

constexpr uint32_t kMaxDraws = 10'000'000;
constexpr size_t kMaxHexBytes = size_t{16} << 20;

Status read_hex(const std::string& hex, std::vector<uint8_t>& out) {
  if (hex.size() % 2 != 0 || hex.size() / 2 > kMaxHexBytes)
    return {Code::invalid, "bytes must be an even number of hex digits, at most " + std::to_string(2 * kMaxHexBytes)};
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return {Code::invalid, "bytes must be hex digits"};
    out.push_back(uint8_t(high * 16 + low));
  }
  return {};
}

// A float in the words of JSON: what is not finite becomes a string.
json::value number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace

Status sample(Session&, Fields& fields, json::object& answer) {
  SamplingFields sampling;
  std::vector<int32_t> history, prompt_history, end_ids;
  uint32_t draws = 0;
  GAINZ_TRY(read_sampling(fields, sampling));
  if (!fields.has("temperature")) sampling.sampling.temperature = 1;
  GAINZ_TRY(fields.ids("history", history));
  GAINZ_TRY(fields.ids("prompt_history", prompt_history));
  GAINZ_TRY(fields.ids("end_ids", end_ids));
  GAINZ_TRY(fields.integer("draws", draws));
  if (draws > kMaxDraws)
    return {Code::limit_exceeded, "draws is " + std::to_string(draws) + ", at most " + std::to_string(kMaxDraws)};
  const json::value* list = fields.raw("logits");
  GAINZ_TRY(fields.unknown());
  if (!list || !list->is_array()) return wrong_type("logits", "a list of numbers");
  std::vector<float> logits;
  for (const json::value& item : list->get_array()) {
    if (item.is_string() && item.get_string() == "-inf")
      logits.push_back(-INFINITY);
    else if (item.is_number())
      logits.push_back(float(item.to_number<double>()));
    else
      return wrong_type("logits", "a list of numbers");
  }
  GAINZ_ASSIGN(const SamplingParams params, gainz::read_sampling(sampling.sampling, uint32_t(logits.size())));
  GAINZ_ASSIGN(Sampler sampler, Sampler::create(params, int32_t(logits.size()), end_ids));
  sampler.observe_prompt(prompt_history);
  for (const int32_t id : history) sampler.observe_output(id);
  GAINZ_ASSIGN(const auto probabilities, sampler.probabilities(logits));
  json::array out;
  for (const auto& [id, p] : probabilities) out.push_back(json::array{id, p});
  answer["probabilities"] = std::move(out);
  if (draws == 0) return {};
  std::map<int32_t, uint64_t> counts;
  for (uint32_t i = 0; i < draws; ++i) {
    GAINZ_ASSIGN(const SampledToken token, sampler.sample(logits, i));
    ++counts[token.id];
  }
  json::object by_id;
  for (const auto& [id, count] : counts) by_id[std::to_string(id)] = count;
  answer["counts"] = std::move(by_id);
  return {};
}

Status dequantize(Session&, Fields& fields, json::object& answer) {
  std::string type_name, hex;
  GAINZ_TRY(fields.string("type", type_name));
  GAINZ_TRY(fields.string("bytes", hex));
  GAINZ_TRY(fields.unknown());
  const TensorType* type = find_tensor_type(type_name);
  if (!type) return {Code::invalid, "type \"" + type_name + "\" is unknown"};
  if (!type->usable) return {Code::unsupported, "type " + type_name + " is known but not usable"};
  std::vector<uint8_t> bytes;
  GAINZ_TRY(read_hex(hex, bytes));
  if (bytes.size() % type->block_bytes != 0)
    return {Code::invalid,
            std::to_string(bytes.size()) + " bytes are not whole blocks of " + std::to_string(type->block_bytes)};
  std::vector<float> values(bytes.size() / type->block_bytes * type->block_elements);
  if (!reference::dequantize_row(type->number, bytes.data(), values.data(), values.size()))
    return {Code::internal, "type " + type_name + " cannot be dequantized"};
  json::array out;
  for (const float value : values) out.push_back(number(value));
  answer["values"] = std::move(out);
  return {};
}

Status limits(Session&, Fields& fields, json::object& answer) {
  GAINZ_TRY(fields.unknown());
  json::object out;
  for (const auto& limit : kGgufLimits) out[limit.name] = limit.value;
  for (const auto& limit : tokenizer_limits::list()) out["tokenizer_" + std::string(limit.name)] = limit.value;
  for (const auto& limit : jinja::limits()) out["template_" + std::string(limit.name)] = limit.value;
  for (const auto& [name, value] : sampler_limits()) out["sampler_" + std::string(name)] = value;
  answer["limits"] = std::move(out);
  return {};
}

}  // namespace gainz::probe
