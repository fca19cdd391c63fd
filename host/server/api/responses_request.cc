#include "server/api/responses_request.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "server/api/chat_messages.h"
#include "server/api/json_fields.h"
#include "server/api/sampling_fields.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

json::value or_null(JsonFields& fields, std::string_view name) {
  const json::value* value = fields.any(name);
  return value != nullptr ? *value : json::value();
}

// An input item: a message, easy or as an earlier response wrote it. Reasoning items of earlier responses are passed over, as
// the contract does where they were not stored.
std::optional<json::object> read_item(const json::value& value, const std::string& path) {
  if (!value.is_object())
    throw bad_request(path, fmt::format("{} must be an input item, not {}", path, shown_json(value)), "invalid_value");
  JsonFields fields(value.get_object(), path);
  const std::string type = fields.text("type").value_or("message");
  fields.accept({"id", "status"});
  if (type == "reasoning") return std::nullopt;
  if (type != "message") {
    throw bad_request(path + ".type", fmt::format("{}.type is {}: this server takes messages alone", path, json_quoted(type)),
                      "unsupported_value");
  }
  json::object message{{"role", fields.required_text("role")}};
  const json::value* content = fields.any("content");
  if (content == nullptr)
    throw bad_request(path + ".content", fmt::format("{}.content is missing", path), "missing_required_parameter");
  message["content"] = read_content(*content, path + ".content");
  fields.finish();
  return message;
}

json::array read_input(JsonFields& fields) {
  json::array out;
  if (const auto instructions = fields.text("instructions")) out.push_back({{"role", "system"}, {"content", *instructions}});
  const json::value* input = fields.any("input");
  if (input == nullptr) throw bad_request("input", "input is missing", "missing_required_parameter");
  if (input->is_string()) {
    out.push_back({{"role", "user"}, {"content", input->get_string()}});
    return out;
  }
  const json::array* items = fields.array("input", kMaxMessages);
  for (size_t i = 0; i < items->size(); ++i) {
    if (auto message = read_item((*items)[i], fmt::format("input[{}]", i))) out.push_back(*std::move(message));
  }
  return out;
}

void read_text_format(JsonFields& fields) {
  const json::object* text = fields.object("text");
  if (text == nullptr) return;
  JsonFields inner(*text, "text");
  if (const json::object* format = inner.object("format")) {
    JsonFields fields_of_format(*format, "text.format");
    const std::string type = fields_of_format.required_text("type");
    if (type != "text")
      throw bad_request("text.format.type",
                        fmt::format("text.format.type is {}: this server answers \"text\" alone", json_quoted(type)),
                        "unsupported_value");
    fields_of_format.finish();
  }
  inner.refuse({"verbosity"}, "this server does not have it");
  inner.finish();
}

}  // namespace

ResponsesRequest read_responses_request(const json::object& body, const Settings&) {
  ResponsesRequest out;
  JsonFields fields(body);
  out.model = fields.text("model").value_or("");
  const json::value* instructions = body.if_contains("instructions");
  json::object wrapped{{"messages", read_input(fields)}};
  JsonFields messages(wrapped);
  out.generation.messages_json = json_text(read_messages(messages));
  read_sampling(fields, out.generation);
  if (const json::object* reasoning = fields.object("reasoning")) {
    JsonFields inner(*reasoning, "reasoning");
    json::object vars;
    if (const json::value* effort = inner.any("effort")) vars["reasoning_effort"] = *effort;
    inner.refuse({"summary", "generate_summary"}, "reasoning is told in full");
    inner.finish();
    JsonFields as_vars(vars);
    read_template_vars(as_vars, out.generation);
  } else {
    read_template_vars(fields, out.generation);
  }
  const auto max_tokens = fields.integer("max_output_tokens", 0, kMaxTokens32);
  if (max_tokens) out.generation.sampling.max_tokens = static_cast<int32_t>(*max_tokens);
  out.is_stream = fields.boolean("stream").value_or(false);
  if (fields.boolean("background").value_or(false))
    throw bad_request("background", "background is not supported: this server keeps no responses", "unsupported_parameter");
  fields.refuse({"previous_response_id", "conversation", "prompt"},
                "this server keeps no responses; send the conversation as input");
  fields.refuse({"tools"}, "this server has no tools");
  fields.refuse({"include", "max_tool_calls", "top_logprobs"}, "this server does not have it");
  if (const auto truncation = fields.choice("truncation", {"disabled"}); truncation) out.echoed["truncation"] = *truncation;
  fields.choice("tool_choice", {"none", "auto"});
  fields.boolean("parallel_tool_calls");
  read_text_format(fields);
  out.echoed["metadata"] = body.contains("metadata") ? or_null(fields, "metadata") : json::object();
  fields.accept({"metadata", "user", "store", "service_tier", "stream_options"});
  fields.finish();
  out.echoed["instructions"] = instructions != nullptr ? *instructions : json::value();
  out.echoed["max_output_tokens"] = max_tokens ? json::value(*max_tokens) : json::value();
  out.echoed["temperature"] = shortest(out.generation.sampling.temperature);
  out.echoed["top_p"] = shortest(out.generation.sampling.top_p);
  out.echoed["parallel_tool_calls"] = true;
  out.echoed["previous_response_id"] = nullptr;
  out.echoed["store"] = false;
  out.echoed["text"] = {{"format", {{"type", "text"}}}};
  out.echoed["tool_choice"] = "auto";
  out.echoed["tools"] = json::array();
  out.echoed["truncation"] = "disabled";
  return out;
}

}  // namespace gainz::host
