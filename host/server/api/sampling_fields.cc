#include "server/api/sampling_fields.h"

#include <fmt/format.h>

#include "base/text.h"
#include "config/speculation.h"
#include "server/api_error.h"
#include "session/session.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

void set(float& target, std::optional<double> value) {
  if (value) target = static_cast<float>(*value);
}

void set(int32_t& target, std::optional<int64_t> value) {
  if (value) target = static_cast<int32_t>(*value);
}

std::string checked_text(const std::string& name, const json::value& value) {
  const auto* text = value.if_string();
  if (text == nullptr || text->empty() || text->find('\0') != json::string::npos)
    throw bad_request(name,
                      fmt::format("{} must be a text of at least one byte and without NUL, not {}", name, shown_json(value)),
                      "invalid_value");
  return std::string(*text);
}

void read_seed(JsonFields& fields, GenerationRequest& request) {
  const json::value* value = fields.any("seed");
  if (value == nullptr) return;
  if (!value->is_int64() && !value->is_uint64())
    throw bad_request("seed", fmt::format("seed must be an integer of 64 bits, not {}", shown_json(*value)), "invalid_value");
  request.sampling.seed = value->is_uint64() ? value->get_uint64() : static_cast<uint64_t>(value->get_int64());
  request.sampling.has_seed = 1;
}

void read_logit_bias(JsonFields& fields, GenerationRequest& request) {
  const json::object* biases = fields.object("logit_bias");
  if (biases == nullptr) return;
  if (biases->size() > kMaxListItems)
    throw bad_request("logit_bias",
                      fmt::format("logit_bias has {} entries, more than the limit of {}", biases->size(), kMaxListItems));
  for (const json::key_value_pair& item : *biases) {
    const std::string name = "logit_bias." + shown_name(item.key());
    const std::optional<int64_t> id = parse_integer(item.key());
    if (!id || *id < 0 || *id > kMaxTokens32)
      throw bad_request(name, fmt::format("{}: the name must be a token id", name), "invalid_value");
    const double bias = item.value().is_number() ? item.value().to_number<double>() : 2 * kMaxBias;
    if (!(bias >= -kMaxBias && bias <= kMaxBias)) {
      throw bad_request(
          name, fmt::format("{} must be a number from {} to {}, not {}", name, -kMaxBias, kMaxBias, shown_json(item.value())),
          "invalid_value");
    }
    request.logit_bias.push_back({static_cast<int32_t>(*id), static_cast<float>(bias)});
  }
}

void read_stop_ids(JsonFields& fields, GenerationRequest& request) {
  const json::array* ids = fields.array("stop_token_ids", kMaxListItems);
  if (ids == nullptr) return;
  for (size_t i = 0; i < ids->size(); ++i) {
    const json::value& value = (*ids)[i];
    if (!value.is_int64() || value.get_int64() < 0 || value.get_int64() > kMaxTokens32) {
      const std::string name = fmt::format("stop_token_ids[{}]", i);
      throw bad_request(name, fmt::format("{} must be a token id, not {}", name, shown_json(value)), "invalid_value");
    }
    request.stop_token_ids.push_back(static_cast<int32_t>(value.get_int64()));
  }
}

// "auto", "off", or {"kinds": [...], "max_depth": N}. What would let one request hold up the others stays with the operator.
void read_speculation(JsonFields& fields, GenerationRequest& request) {
  const json::value* value = fields.any("speculation");
  if (value == nullptr) return;
  std::string text;
  if (const auto* name = value->if_string()) {
    text = std::string(*name);
  } else {
    const json::object* table = fields.object("speculation");
    JsonFields inner(*table, "speculation");
    if (const json::array* kinds = inner.array("kinds", GAINZ_NUM_DRAFT_KINDS)) {
      for (const json::value& kind : *kinds)
        text += (kind.is_string() ? std::string(kind.get_string()) : shown_json(kind)) + ",";
    }
    if (const auto depth = inner.integer("max_depth", 1, GAINZ_MAX_DRAFT_TOKENS)) text += fmt::format("max_depth={},", *depth);
    inner.finish();
    text = text.empty() ? "auto" : text.substr(0, text.size() - 1);
  }
  const Result<gainz_speculation> parsed = parse_speculation(text);
  if (!parsed.ok()) throw bad_request("speculation", "speculation " + parsed.failure().sentence, "invalid_value");
  if (parsed->mode == GAINZ_SPECULATION_FIXED || (parsed->kinds >> GAINZ_DRAFT_NOISE & 1) != 0)
    throw bad_request("speculation", "speculation: depth and \"noise\" are for the operator's configuration, not for a request",
                      "unsupported_value");
  request.speculation = *parsed;
}

}  // namespace

void read_stop(JsonFields& fields, std::string_view name, GenerationRequest& request) {
  const json::value* value = fields.any(name);
  if (value == nullptr) return;
  if (!value->is_array()) {
    request.stop.push_back(checked_text(fields.name_of(name), *value));
    return;
  }
  const json::array& list = value->get_array();
  for (size_t i = 0; i < list.size(); ++i)
    request.stop.push_back(checked_text(fmt::format("{}[{}]", fields.name_of(name), i), list[i]));
}

void read_sampling(JsonFields& fields, GenerationRequest& request) {
  gainz_sampling& sampling = request.sampling;
  set(sampling.temperature, fields.number("temperature", 0, kMaxTemperature));
  set(sampling.top_p, fields.number("top_p", 0, 1));
  set(sampling.min_p, fields.number("min_p", 0, 1));
  set(sampling.typical_p, fields.number("typical_p", 0, 1));
  set(sampling.presence_penalty, fields.number("presence_penalty", -kMaxPenaltyValue, kMaxPenaltyValue));
  set(sampling.frequency_penalty, fields.number("frequency_penalty", -kMaxPenaltyValue, kMaxPenaltyValue));
  set(sampling.repetition_penalty, fields.number("repetition_penalty", kLeastRepetition, kMostRepetition));
  std::optional<int64_t> top_k = fields.integer("top_k", -1, kMaxTokens32);
  if (top_k == -1) top_k = 0;  // as vLLM writes "off"
  set(sampling.top_k, top_k);
  set(sampling.min_tokens, fields.integer("min_tokens", 0, kMaxTokens32));
  if (const auto ignore_eos = fields.boolean("ignore_eos")) sampling.ignore_eos = *ignore_eos ? 1 : 0;
  read_seed(fields, request);
  read_logit_bias(fields, request);
  read_stop(fields, "stop", request);
  read_stop_ids(fields, request);
  read_speculation(fields, request);
  if (auto salt = fields.text("cache_salt")) {
    if (salt->find('\0') != std::string::npos)
      throw bad_request("cache_salt", "cache_salt must not hold a NUL", "invalid_value");
    request.cache_salt = *std::move(salt);
  }
  set(request.priority, fields.integer("priority", -1000000, 1000000));
  if (const auto timeout = fields.integer("timeout_ms", 1, 86400000)) request.timeout_ms = static_cast<uint32_t>(*timeout);
}

void set_default_sampling(const Settings& settings, GenerationRequest& request) { request.sampling = sampling_of(settings); }

}  // namespace gainz::host
