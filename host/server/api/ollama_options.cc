#include "server/api/ollama_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "server/api/sampling_fields.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

constexpr double kMaxKeepAliveSeconds = 1e9;

void set(float& target, std::optional<double> value) {
  if (value) target = static_cast<float>(*value);
}
void set(int32_t& target, std::optional<int64_t> value) {
  if (value) target = static_cast<int32_t>(*value);
}

void read_last_n(JsonFields& fields, gainz_sampling& sampling) {
  const auto last = fields.integer("repeat_last_n", -1, kMaxTokens32);
  if (!last || *last == -1) return;
  const bool is_penalized =
      sampling.repetition_penalty != 1 || sampling.presence_penalty != 0 || sampling.frequency_penalty != 0;
  if (!is_penalized) return;
  if (*last > 0) {
    throw bad_request(
        "options.repeat_last_n",
        fmt::format("options.repeat_last_n is {}: the penalties of this server look at all tokens, which is -1", *last),
        "unsupported_parameter");
  }
  sampling.repetition_penalty = 1;
  sampling.presence_penalty = 0;
  sampling.frequency_penalty = 0;
}

// One unit of a Go duration at the beginning of `text`, in seconds, taken off it; 0: none is there.
double take_unit(std::string_view& text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr Unit kUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"\u00b5s", 1e-6}, {"\u03bcs", 1e-6},
                                    {"ms", 1e-3}, {"s", 1},     {"m", 60},         {"h", 3600}};
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return unit.seconds;
  }
  return 0;
}

}  // namespace

std::optional<uint32_t> read_ollama_options(JsonFields& body, GenerationRequest& request) {
  const json::object* object = body.object("options");
  if (object == nullptr) return std::nullopt;
  JsonFields fields(*object, "options");
  gainz_sampling& sampling = request.sampling;
  set(sampling.temperature, fields.number("temperature", 0, kMaxTemperature));
  set(sampling.top_k, fields.integer("top_k", 0, kMaxTokens32));
  set(sampling.top_p, fields.number("top_p", 0, 1));
  set(sampling.min_p, fields.number("min_p", 0, 1));
  set(sampling.typical_p, fields.number("typical_p", 0, 1));
  set(sampling.repetition_penalty, fields.number("repeat_penalty", kLeastRepetition, kMostRepetition));
  set(sampling.presence_penalty, fields.number("presence_penalty", -kMaxPenaltyValue, kMaxPenaltyValue));
  set(sampling.frequency_penalty, fields.number("frequency_penalty", -kMaxPenaltyValue, kMaxPenaltyValue));
  read_last_n(fields, sampling);
  if (const auto seed = fields.integer("seed", INT64_MIN, INT64_MAX)) {
    sampling.seed = static_cast<uint64_t>(*seed);
    sampling.has_seed = *seed == -1 ? 0 : 1;  // -1: draw one
  }
  // -1: no bound, -2: until the context is full; here the same.
  if (const auto num_predict = fields.integer("num_predict", -2, kMaxTokens32))
    sampling.max_tokens = static_cast<int32_t>(std::max<int64_t>(*num_predict, -1));
  read_stop(fields, "stop", request);
  const auto num_ctx = fields.integer("num_ctx", 1, kMaxTokens32);
  fields.refuse({"mirostat", "mirostat_tau", "mirostat_eta", "tfs_z", "penalize_newline", "num_keep"},
                "this server does not have it");
  fields.refuse(
      {"num_batch", "num_gpu", "main_gpu", "num_thread", "use_mmap", "use_mlock", "low_vram", "numa", "vocab_only", "f16_kv"},
      "it is set in the server's configuration");
  fields.finish();
  return num_ctx ? std::optional<uint32_t>(static_cast<uint32_t>(*num_ctx)) : std::nullopt;
}

void check_num_ctx(std::optional<uint32_t> num_ctx, const ServedModel& model) {
  if (!num_ctx || *num_ctx <= model.info().context) return;
  throw bad_request("options.num_ctx",
                    fmt::format("options.num_ctx is {}, and this model is served with a context of {} tokens (see `context` in "
                                "the server's configuration)",
                                *num_ctx, model.info().context));
}

std::optional<double> go_duration_seconds(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  double seconds = 0;
  bool has_any = false;
  while (!text.empty()) {
    const size_t size = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::optional<double> number = parse_number(text.substr(0, size));
    text.remove_prefix(size);
    // A number alone is no Go duration, but is what people write for "for ever" and "not at all".
    const double unit = text.empty() && !has_any ? 1 : take_unit(text);
    if (!number || unit == 0) return std::nullopt;
    seconds += *number * unit;
    has_any = true;
  }
  if (!has_any) return std::nullopt;
  return is_negative ? -seconds : seconds;
}

std::optional<std::chrono::seconds> read_keep_alive(JsonFields& fields) {
  const json::value* value = fields.any("keep_alive");
  if (value == nullptr) return std::nullopt;
  std::optional<double> seconds;
  if (value->is_number()) seconds = value->to_number<double>();
  if (value->is_string()) seconds = go_duration_seconds(value->get_string());
  if (!seconds || !(std::abs(*seconds) <= kMaxKeepAliveSeconds)) {
    throw bad_request("keep_alive",
                      fmt::format("keep_alive must be seconds or a time such as \"5m\", at most {:.0f} s, not {}",
                                  kMaxKeepAliveSeconds, shown_json(*value)),
                      "invalid_value");
  }
  return std::chrono::seconds(static_cast<int64_t>(*seconds < 0 ? -1 : *seconds));
}

}  // namespace gainz::host
