#include <boost/json/serialize.hpp>
#include <charconv>

#include "probe/probe.h"

namespace gainz::probe {

Status wrong_type(std::string_view name, const char* expected) {
  return {Code::invalid, std::string(name) + " must be " + expected};
}

bool Fields::has(std::string_view name) { return raw(name) != nullptr; }

const json::value* Fields::raw(std::string_view name) {
  known_.push_back(name);
  return object_.if_contains(name);
}

Status Fields::string(std::string_view name, std::string& out) {
  const json::value* value = raw(name);
  if (!value) return {};
  if (!value->is_string()) return wrong_type(name, "a string");
  out.assign(value->get_string().data(), value->get_string().size());
  return {};
}

Status Fields::boolean(std::string_view name, bool& out) {
  const json::value* value = raw(name);
  if (!value) return {};
  if (!value->is_bool()) return wrong_type(name, "true or false");
  out = value->get_bool();
  return {};
}

Status Fields::number(std::string_view name, double& out) {
  const json::value* value = raw(name);
  if (!value) return {};
  if (!value->is_number()) return wrong_type(name, "a number");
  out = value->to_number<double>();
  return {};
}

Status Fields::real(std::string_view name, float& out) {
  double wide = out;
  GAINZ_TRY(number(name, wide));
  out = float(wide);
  return {};
}

Status Fields::ids(std::string_view name, std::vector<int32_t>& out) {
  const json::value* value = raw(name);
  if (!value) return {};
  if (!value->is_array()) return wrong_type(name, "a list of token ids");
  out.clear();
  for (const json::value& item : value->get_array()) {
    json::error_code error;
    const int32_t id = item.is_number() ? item.to_number<int32_t>(error) : 0;
    if (!item.is_number() || error) return wrong_type(name, "a list of token ids");
    out.push_back(id);
  }
  return {};
}

Status Fields::strings(std::string_view name, std::vector<std::string>& out) {
  const json::value* value = raw(name);
  if (!value) return {};
  if (value->is_string()) {
    out.assign(1, std::string(value->get_string()));
    return {};
  }
  if (!value->is_array()) return wrong_type(name, "a string or a list of strings");
  for (const json::value& item : value->get_array()) {
    if (!item.is_string()) return wrong_type(name, "a string or a list of strings");
    out.emplace_back(item.get_string());
  }
  return {};
}

Status Fields::json_text(std::string_view name, std::string& out) {
  if (const json::value* value = raw(name); value && !value->is_null()) out = json::serialize(*value);
  return {};
}

Status Fields::unknown() const {
  for (const auto& [key, value] : object_) {
    const std::string_view name = key;
    if (name != "op" && name != "id" && std::find(known_.begin(), known_.end(), name) == known_.end())
      return {Code::invalid, "unknown field \"" + std::string(name) + "\""};
  }
  return {};
}

json::array to_json(const std::vector<int32_t>& ids) { return json::array(ids.begin(), ids.end()); }

Status read_sampling(Fields& fields, SamplingFields& out) {
  gainz_sampling_init(&out.sampling);
  gainz_sampling& s = out.sampling;
  s.temperature = 0;
  GAINZ_TRY(fields.real("temperature", s.temperature));
  GAINZ_TRY(fields.integer("top_k", s.top_k));
  GAINZ_TRY(fields.real("top_p", s.top_p));
  GAINZ_TRY(fields.real("min_p", s.min_p));
  GAINZ_TRY(fields.real("typical_p", s.typical_p));
  GAINZ_TRY(fields.real("repetition_penalty", s.repetition_penalty));
  GAINZ_TRY(fields.real("presence_penalty", s.presence_penalty));
  GAINZ_TRY(fields.real("frequency_penalty", s.frequency_penalty));
  GAINZ_TRY(fields.integer("min_tokens", s.min_tokens));
  GAINZ_TRY(fields.integer("max_tokens", s.max_tokens));
  GAINZ_TRY(fields.integer("logprobs", s.logprobs));
  GAINZ_TRY(fields.integer("seed", s.seed));
  s.has_seed = 1;
  bool ignore_eos = false;
  GAINZ_TRY(fields.boolean("ignore_eos", ignore_eos));
  s.ignore_eos = ignore_eos;
  GAINZ_TRY(fields.strings("stop", out.stop));
  GAINZ_TRY(fields.ids("stop_token_ids", out.stop_token_ids));
  if (const json::value* bias = fields.raw("logit_bias")) {
    if (!bias->is_object()) return wrong_type("logit_bias", "an object of token id to number");
    for (const auto& [key, value] : bias->get_object()) {
      int32_t id = 0;
      const auto parsed = std::from_chars(key.data(), key.data() + key.size(), id);
      if (parsed.ec != std::errc() || parsed.ptr != key.data() + key.size() || !value.is_number())
        return wrong_type("logit_bias", "an object of token id to number");
      out.logit_bias.push_back({id, float(value.to_number<double>())});
    }
  }
  for (const auto& text : out.stop) out.stop_pointers.push_back(text.c_str());
  s.stop = out.stop_pointers.data();
  s.num_stop = out.stop_pointers.size();
  s.stop_token_ids = out.stop_token_ids.data();
  s.num_stop_token_ids = out.stop_token_ids.size();
  s.logit_bias = out.logit_bias.data();
  s.num_logit_bias = out.logit_bias.size();
  return {};
}

}  // namespace gainz::probe
