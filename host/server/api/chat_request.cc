#include "server/api/chat_request.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "server/api/chat_messages.h"
#include "server/api/json_fields.h"
#include "server/api/sampling_fields.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

constexpr int64_t kMaxTopLogprobs = 20;
constexpr int64_t kMaxLegacyLogprobs = 20;
constexpr int32_t kLegacyMaxTokens = 16;  // the contract's default

// What both routes have and no model here can do, and what the contract gives no effect.
void read_common(JsonFields& fields) {
  fields.accept({"user", "metadata", "store", "service_tier"});
  fields.refuse({"logit_processors", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs"},
                "answers are not constrained by this server");
}

void read_response_format(JsonFields& fields) {
  const json::object* format = fields.object("response_format");
  if (format == nullptr) return;
  JsonFields inner(*format, "response_format");
  const std::string type = inner.required_text("type");
  if (type == "text") return inner.finish();
  throw bad_request("response_format.type",
                    fmt::format("response_format.type is {}: this server answers \"text\" alone", shown_text(type)),
                    "unsupported_value");
}

// Text that the answer is expected to be like; it never changes the answer, only when it comes.
void read_prediction(JsonFields& fields, GenerationRequest& request) {
  const json::object* prediction = fields.object("prediction");
  if (prediction == nullptr) return;
  JsonFields inner(*prediction, "prediction");
  inner.choice("type", {"content"});
  const json::value* content = inner.any("content");
  if (content == nullptr)
    throw bad_request("prediction.content", "prediction.content is missing", "missing_required_parameter");
  inner.finish();
  std::string& text = request.prediction.emplace();
  if (content->is_string()) {
    text = std::string(content->get_string());
    return;
  }
  if (!content->is_array())
    throw bad_request("prediction.content",
                      fmt::format("prediction.content must be a text or a list of texts, not {}", shown_json(*content)),
                      "invalid_value");
  for (size_t i = 0; i < content->get_array().size(); ++i) {
    const std::string name = fmt::format("prediction.content[{}]", i);
    const json::object* part = content->get_array()[i].if_object();
    if (part == nullptr) throw bad_request(name, name + " must be an object with type \"text\"", "invalid_value");
    JsonFields piece(*part, name);
    piece.choice("type", {"text"});
    text += piece.required_text("text");
    piece.finish();
  }
}

void read_tools(JsonFields& fields) {
  constexpr std::string_view kWhy = "this server has no tools";
  fields.refuse({"tools", "functions"}, kWhy);
  for (const char* name : {"tool_choice", "function_call"}) {
    const json::value* value = fields.any(name);
    if (value == nullptr || (value->is_string() && (value->get_string() == "none" || value->get_string() == "auto"))) continue;
    throw bad_request(name, fmt::format("{} is not supported: {}", name, kWhy), "unsupported_parameter");
  }
  fields.boolean("parallel_tool_calls");
}

void read_chat_logprobs(JsonFields& fields, GenerationRequest& request) {
  const bool wanted = fields.boolean("logprobs").value_or(false);
  const auto top = fields.integer("top_logprobs", 0, kMaxTopLogprobs);
  if (top && !wanted) throw bad_request("top_logprobs", "top_logprobs needs logprobs to be true", "invalid_value");
  request.sampling.logprobs = wanted ? static_cast<int32_t>(top.value_or(0)) : -1;
}

size_t read_num_choices(JsonFields& fields, const Settings& settings) {
  return static_cast<size_t>(fields.integer("n", 1, settings.integer(key("server.max_choices"))).value_or(1));
}

std::vector<std::variant<std::string, std::vector<int32_t>>> read_prompts(JsonFields& fields, size_t most) {
  std::vector<std::variant<std::string, std::vector<int32_t>>> out;
  const json::value* prompt = fields.any("prompt");
  if (prompt == nullptr) throw bad_request("prompt", "prompt is missing", "missing_required_parameter");
  if (prompt->is_string()) {
    out.emplace_back(std::string(prompt->get_string()));
    return out;
  }
  if (!prompt->is_array() || prompt->get_array().empty()) {
    throw bad_request("prompt",
                      fmt::format("prompt must be a text, a list of texts, a list of token ids or a list of such lists, not {}",
                                  prompt->is_array() ? "an empty list" : shown_json(*prompt)),
                      "invalid_value");
  }
  const json::array& list = prompt->get_array();
  if (list[0].is_number()) {
    out.emplace_back(read_ids(list, "prompt"));
    return out;
  }
  if (list.size() > most)
    throw bad_request("prompt", fmt::format("prompt has {} items, more than the limit of {}", list.size(), most),
                      "invalid_value");
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name = fmt::format("prompt[{}]", i);
    if (list[i].is_string()) {
      out.emplace_back(std::string(list[i].get_string()));
    } else if (list[i].is_array()) {
      out.emplace_back(read_ids(list[i].get_array(), name));
    } else {
      throw bad_request(name, fmt::format("{} must be a text or a list of token ids, not {}", name, shown_json(list[i])),
                        "invalid_value");
    }
  }
  return out;
}

}  // namespace

std::vector<int32_t> read_ids(const json::array& ids, const std::string& name) {
  std::vector<int32_t> out;
  out.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].is_int64() || ids[i].get_int64() < 0 || ids[i].get_int64() > kMaxTokens32) {
      const std::string item = fmt::format("{}[{}]", name, i);
      throw bad_request(item, fmt::format("{} must be a token id, not {}", item, shown_json(ids[i])), "invalid_value");
    }
    out.push_back(static_cast<int32_t>(ids[i].get_int64()));
  }
  if (out.empty()) throw bad_request(name, fmt::format("{} is empty; at least one token is needed", name), "invalid_value");
  return out;
}

void read_stream(JsonFields& fields, bool& is_stream, bool& wants_usage) {
  is_stream = fields.boolean("stream").value_or(false);
  const json::object* options = fields.object("stream_options");
  if (options == nullptr) return;
  if (!is_stream) throw bad_request("stream_options", "stream_options needs stream to be true", "invalid_value");
  JsonFields inner(*options, "stream_options");
  wants_usage = inner.boolean("include_usage").value_or(false);
  inner.accept({"include_obfuscation"});  // pads events against who reads encrypted traffic; a local server has no need
  inner.finish();
}

ChatRequest read_chat_request(const json::object& body, const Settings& settings) {
  ChatRequest out;
  JsonFields fields(body);
  out.model = fields.text("model").value_or("");
  out.generation.messages_json = json_text(read_messages(fields));
  read_sampling(fields, out.generation);
  read_template_vars(fields, out.generation);
  read_chat_logprobs(fields, out.generation);
  const auto max_tokens = fields.integer("max_tokens", 0, kMaxTokens32);
  const auto max_completion = fields.integer("max_completion_tokens", 0, kMaxTokens32);
  if (max_completion || max_tokens)
    out.generation.sampling.max_tokens = static_cast<int32_t>(max_completion ? *max_completion : *max_tokens);
  out.num_choices = read_num_choices(fields, settings);
  read_stream(fields, out.is_stream, out.wants_usage);
  read_response_format(fields);
  read_tools(fields);
  read_common(fields);
  if (const json::array* modalities = fields.array("modalities", 2)) {
    if (modalities->size() != 1 || (*modalities)[0] != "text")
      throw bad_request("modalities", "modalities must be [\"text\"]: this server answers text alone", "unsupported_value");
  }
  read_prediction(fields, out.generation);
  fields.refuse({"audio", "web_search_options", "verbosity"}, "this server does not have it");
  fields.finish();
  return out;
}

CompletionRequest read_completion_request(const json::object& body, const Settings& settings) {
  CompletionRequest out;
  JsonFields fields(body);
  out.model = fields.text("model").value_or("");
  const auto max_choices = static_cast<size_t>(settings.integer(key("server.max_choices")));
  auto prompts = read_prompts(fields, max_choices);
  GenerationRequest common;
  common.sampling.max_tokens = kLegacyMaxTokens;
  read_sampling(fields, common);
  if (const auto max_tokens = fields.integer("max_tokens", 0, kMaxTokens32))
    common.sampling.max_tokens = static_cast<int32_t>(*max_tokens);
  if (const auto logprobs = fields.integer("logprobs", 0, kMaxLegacyLogprobs))
    common.sampling.logprobs = static_cast<int32_t>(*logprobs);
  out.echoes = fields.boolean("echo").value_or(false);
  if (out.echoes) common.prompt_logprobs = common.sampling.logprobs;
  out.num_choices = read_num_choices(fields, settings);
  if (out.num_choices * prompts.size() > max_choices) {
    throw bad_request("n",
                      fmt::format("{} prompts with n = {} are more than the limit of {} answers", prompts.size(),
                                  out.num_choices, max_choices),
                      "invalid_value");
  }
  if (const auto best_of = fields.integer("best_of", 1, kMaxTokens32);
      best_of && *best_of != static_cast<int64_t>(out.num_choices))
    throw bad_request(
        "best_of",
        fmt::format("best_of is {} and n is {}: this server returns every answer it makes", *best_of, out.num_choices),
        "unsupported_value");
  if (const auto suffix = fields.text("suffix"); suffix && !suffix->empty())
    throw bad_request("suffix", "suffix is not supported: this server does not fill in between texts", "unsupported_parameter");
  read_stream(fields, out.is_stream, out.wants_usage);
  read_response_format(fields);
  read_common(fields);
  fields.finish();
  for (auto& prompt : prompts) {
    GenerationRequest& request = out.prompts.emplace_back(common);
    if (auto* text = std::get_if<std::string>(&prompt)) {
      request.prompt = std::move(*text);
    } else {
      request.prompt_ids = std::move(std::get<std::vector<int32_t>>(prompt));
    }
  }
  return out;
}

}  // namespace gainz::host
