#include "server/api/ollama_request.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "base/text.h"
#include "server/api/chat_messages.h"
#include "server/api/sampling_fields.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kLatest = ":latest";
constexpr int64_t kMaxKeepAliveSeconds = 1000000000;

void set(float& target, std::optional<double> value) {
  if (value) target = static_cast<float>(*value);
}
void set(int32_t& target, std::optional<int64_t> value) {
  if (value) target = static_cast<int32_t>(*value);
}

void read_options(JsonFields& body, OllamaRequest& out) {
  const json::object* object = body.object("options");
  if (object == nullptr) return;
  JsonFields fields(*object, "options");
  gainz_sampling& sampling = out.generation.sampling;
  set(sampling.temperature, fields.number("temperature", 0, kMaxTemperature));
  set(sampling.top_k, fields.integer("top_k", 0, kMaxTokens32));
  set(sampling.top_p, fields.number("top_p", 0, 1));
  set(sampling.min_p, fields.number("min_p", 0, 1));
  set(sampling.typical_p, fields.number("typical_p", 0, 1));
  set(sampling.repetition_penalty, fields.number("repeat_penalty", kLeastRepetition, kMostRepetition));
  set(sampling.presence_penalty, fields.number("presence_penalty", -kMaxPenaltyValue, kMaxPenaltyValue));
  set(sampling.frequency_penalty, fields.number("frequency_penalty", -kMaxPenaltyValue, kMaxPenaltyValue));
  if (const auto seed = fields.integer("seed", INT64_MIN, INT64_MAX)) {
    sampling.seed = static_cast<uint64_t>(*seed);
    sampling.has_seed = *seed == -1 ? 0 : 1;  // -1: draw one
  }
  // -1: no bound, -2: until the context is full; here the same.
  if (const auto num_predict = fields.integer("num_predict", -2, kMaxTokens32))
    sampling.max_tokens = static_cast<int32_t>(std::max<int64_t>(*num_predict, -1));
  read_stop(fields, "stop", out.generation);
  if (const auto context = fields.integer("num_ctx", 1, kMaxTokens32)) out.context = static_cast<uint32_t>(*context);
  if (const auto last = fields.integer("repeat_last_n", -1, kMaxTokens32); last && *last != -1) {
    throw bad_request(
        "options.repeat_last_n",
        fmt::format("options.repeat_last_n is {}: the repetition penalty of this server looks at all tokens, which is -1",
                    *last));
  }
  fields.refuse({"mirostat", "mirostat_tau", "mirostat_eta", "tfs_z", "penalize_newline", "num_keep"},
                "this server does not have it");
  fields.refuse(
      {"num_batch", "num_gpu", "main_gpu", "num_thread", "use_mmap", "use_mlock", "low_vram", "numa", "vocab_only", "f16_kv"},
      "it is set in the server's configuration");
  fields.finish();
}

void read_common(JsonFields& fields, OllamaRequest& out) {
  fields.refuse({"images"}, "this model takes text alone");
  if (const json::value* format = fields.any("format");
      format != nullptr && !(format->is_string() && format->get_string().empty()))
    throw bad_request("format", "format is not supported: answers are not constrained by this server", "unsupported_parameter");
  out.is_stream = fields.boolean("stream").value_or(true);
  out.keep_alive = read_keep_alive(fields);
  read_options(fields, out);
  if (const json::value* think = fields.any("think")) {
    json::object vars;
    if (think->is_bool()) {
      vars["enable_thinking"] = think->get_bool();
    } else if (const auto level = fields.choice("think", {"low", "medium", "high"})) {
      vars["enable_thinking"] = true;
      vars["reasoning_effort"] = *level;
    }
    out.generation.vars_json = json_text(vars);
  }
  fields.finish();
}

OllamaRequest begin(JsonFields& fields, const ServerContext& server) {
  OllamaRequest out;
  out.model = ollama_model_id(server, fields.required_text("model"));
  set_default_sampling(server.settings(), out.generation);
  return out;
}

// Ollama's messages carry "thinking" and may repeat "images": null.
json::object as_openai(const json::value& value, const std::string& path) {
  if (!value.is_object())
    throw bad_request(path, fmt::format("{} must be a message, not {}", path, shown_json(value)), "invalid_value");
  json::object out = value.get_object();
  JsonFields fields(out, path);
  fields.refuse({"images"}, "this model takes text alone");
  out.erase("images");
  if (const json::value* thinking = out.if_contains("thinking")) {
    out["reasoning_content"] = *thinking;
    out.erase("thinking");
  }
  return out;
}

}  // namespace

std::optional<std::chrono::seconds> read_keep_alive(JsonFields& fields) {
  const json::value* value = fields.any("keep_alive");
  if (value == nullptr) return std::nullopt;
  double seconds = 0;
  bool is_good = value->is_number();
  if (is_good) seconds = value->to_number<double>();
  if (value->is_string()) {
    std::string_view text = value->get_string();
    double unit = 1;
    if (text.ends_with("ms")) {
      unit = 1e-3;
      text.remove_suffix(2);
    } else if (text.ends_with('s') || text.ends_with('m') || text.ends_with('h')) {
      unit = text.back() == 's' ? 1 : text.back() == 'm' ? 60 : 3600;
      text.remove_suffix(1);
    }
    const std::optional<double> number = parse_number(text);
    is_good = number.has_value();
    seconds = number.value_or(0) * unit;
  }
  if (!is_good || std::abs(seconds) > kMaxKeepAliveSeconds) {
    throw bad_request("keep_alive",
                      fmt::format("keep_alive must be seconds or a time such as \"5m\", not {}", shown_json(*value)),
                      "invalid_value");
  }
  return std::chrono::seconds(static_cast<int64_t>(seconds < 0 ? -1 : seconds));
}

std::string ollama_model_id(const ServerContext& server, const std::string& name) {
  for (const ModelState& state : server.models()) {
    if (state.id == name) return name;
  }
  return name.ends_with(kLatest) ? name.substr(0, name.size() - kLatest.size()) : name;
}

OllamaRequest read_ollama_generate(const json::object& body, const ServerContext& server) {
  JsonFields fields(body);
  OllamaRequest out = begin(fields, server);
  const std::string prompt = fields.text("prompt").value_or("");
  const auto system = fields.text("system");
  const bool is_raw = fields.boolean("raw").value_or(false);
  for (const char* name : {"suffix", "template"}) {
    const auto text = fields.text(name);
    if (text && !text->empty())
      throw bad_request(name, fmt::format("{} is not supported by this server", name), "unsupported_parameter");
  }
  fields.refuse({"context"}, "send the conversation to /api/chat; its beginning is found in the prefix cache");
  out.has_prompt = !prompt.empty();
  if (is_raw) {
    if (system && !system->empty()) throw bad_request("system", "system has no place in a raw prompt", "invalid_value");
    out.generation.prompt = prompt;
  } else {
    json::array messages;
    if (system && !system->empty()) messages.push_back({{"role", "system"}, {"content", *system}});
    messages.push_back({{"role", "user"}, {"content", prompt}});
    out.generation.messages_json = json_text(messages);
  }
  read_common(fields, out);
  if (is_raw) out.generation.vars_json.reset();
  return out;
}

OllamaRequest read_ollama_chat(const json::object& body, const ServerContext& server) {
  JsonFields fields(body);
  OllamaRequest out = begin(fields, server);
  out.is_chat = true;
  fields.refuse({"tools"}, "this server has no tools");
  if (const json::array* messages = fields.array("messages", kMaxMessages); messages != nullptr && !messages->empty()) {
    json::object copy;
    json::array& list = copy["messages"].emplace_array();
    for (size_t i = 0; i < messages->size(); ++i) list.push_back(as_openai((*messages)[i], fmt::format("messages[{}]", i)));
    JsonFields inner(copy);
    out.generation.messages_json = json_text(read_messages(inner));
    out.has_prompt = true;
  }
  read_common(fields, out);
  return out;
}

}  // namespace gainz::host
