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

// The text of a reasoning item that an earlier response held. Never sealed: this server gives none that are.
std::string read_reasoning(JsonFields& fields, const std::string& path) {
  std::string out;
  for (const char* name : {"content", "summary"}) {
    const json::array* parts = fields.array(name, kMaxMessages);
    for (size_t i = 0; parts != nullptr && i < parts->size(); ++i) {
      const std::string where = fmt::format("{}.{}[{}]", path, name, i);
      if (!(*parts)[i].is_object())
        throw bad_request(where, fmt::format("{} must be an object, not {}", where, shown_json((*parts)[i])), "invalid_value");
      JsonFields part((*parts)[i].get_object(), where);
      part.choice("type", {"reasoning_text", "summary_text"});
      if (!out.empty()) out += '\n';
      out += part.required_text("text");
      part.finish();
    }
  }
  fields.refuse({"encrypted_content"}, "this server seals no reasoning and opens none");
  return out;
}

// Input items as messages. The reasoning of an item belongs to the answer that follows it, where a template finds it.
class Items {
 public:
  void add(const json::value& value, const std::string& path) {
    if (!value.is_object())
      throw bad_request(path, fmt::format("{} must be an input item, not {}", path, shown_json(value)), "invalid_value");
    JsonFields fields(value.get_object(), path);
    const std::string type = fields.text("type").value_or("message");
    if (type == "reasoning") {
      fields.accept({"id", "status"});
      reasoning_ += read_reasoning(fields, path);
      return fields.finish();
    }
    if (type != "message") {
      throw bad_request(path + ".type", fmt::format("{}.type is {}: this server takes messages alone", path, shown_text(type)),
                        "unsupported_value");
    }
    json::object message = read_message(value, path, {"type", "id", "status"});
    if (message.at("role") == "assistant" && !reasoning_.empty() && !message.contains("reasoning_content"))
      message["reasoning_content"] = reasoning_;
    reasoning_.clear();
    messages_.push_back(std::move(message));
  }
  json::array take() { return std::move(messages_); }

 private:
  json::array messages_;
  std::string reasoning_;
};

// "instructions" and "input" as messages.
json::array read_input(JsonFields& fields) {
  json::array out;
  if (const auto instructions = fields.text("instructions")) out.push_back({{"role", "system"}, {"content", *instructions}});
  const json::value* input = fields.any("input");
  if (input == nullptr) throw bad_request("input", "input is missing", "missing_required_parameter");
  if (input->is_string()) {
    out.push_back({{"role", "user"}, {"content", input->get_string()}});
    return out;
  }
  if (!input->is_array())
    throw bad_request("input", fmt::format("input must be a text or a list of items, not {}", shown_json(*input)),
                      "invalid_value");
  const json::array* list = fields.array("input", kMaxMessages);
  Items items;
  for (size_t i = 0; i < list->size(); ++i) items.add((*list)[i], fmt::format("input[{}]", i));
  json::array messages = items.take();
  if (messages.empty()) throw bad_request("input", "input holds no message; at least one is needed", "invalid_value");
  for (json::value& message : messages) out.push_back(std::move(message));
  return out;
}

// "reasoning" and "chat_template_kwargs" as variables of the template; answers the effort.
json::value read_reasoning_fields(JsonFields& fields, GenerationRequest& request) {
  json::value effort;
  if (const json::object* reasoning = fields.object("reasoning")) {
    JsonFields inner(*reasoning, "reasoning");
    if (const auto given = read_effort(inner, "effort")) effort = json::string(*given);
    inner.refuse({"summary", "generate_summary"}, "reasoning is told in full");
    inner.finish();
  }
  read_template_vars(fields, effort.is_null() ? read_effort(fields, "reasoning_effort") : std::string(effort.get_string()),
                     request);
  return effort;
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
                        fmt::format("text.format.type is {}: this server answers \"text\" alone", shown_text(type)),
                        "unsupported_value");
    fields_of_format.finish();
  }
  inner.refuse({"verbosity"}, "this server does not have it");
  inner.finish();
}

// What the contract has and this server does not.
void refuse_others(JsonFields& fields) {
  if (fields.boolean("background").value_or(false))
    throw bad_request("background", "background is not supported: this server keeps no responses", "unsupported_parameter");
  fields.refuse({"previous_response_id", "conversation", "prompt"},
                "this server keeps no responses; send the conversation as input");
  fields.refuse({"tools"}, "this server has no tools");
  fields.refuse({"include", "max_tool_calls", "top_logprobs"}, "this server does not have it");
  fields.choice("truncation", {"disabled"});
  fields.choice("tool_choice", {"none", "auto"});
  fields.boolean("parallel_tool_calls");
}

void read_responses_stream(JsonFields& fields, bool& is_stream) {
  is_stream = fields.boolean("stream").value_or(false);
  const json::object* options = fields.object("stream_options");
  if (options == nullptr) return;
  if (!is_stream) throw bad_request("stream_options", "stream_options needs stream to be true", "invalid_value");
  JsonFields inner(*options, "stream_options");
  inner.boolean("include_obfuscation");  // as in read_stream
  inner.finish();
}

}  // namespace

ResponsesRequest read_responses_request(const json::object& body, const Settings&) {
  ResponsesRequest out;
  JsonFields fields(body);
  out.model = fields.text("model").value_or("");
  out.generation.messages_json = json_text(read_input(fields));
  read_sampling(fields, out.generation);
  const json::value effort = read_reasoning_fields(fields, out.generation);
  const auto max_tokens = fields.integer("max_output_tokens", 0, kMaxTokens32);
  if (max_tokens) out.generation.sampling.max_tokens = static_cast<int32_t>(*max_tokens);
  read_responses_stream(fields, out.is_stream);
  refuse_others(fields);
  read_text_format(fields);
  const json::value* metadata = fields.any("metadata");
  const json::value* instructions = fields.any("instructions");
  fields.accept({"user", "store", "service_tier"});
  fields.finish();
  out.echoed = {{"background", false},
                {"instructions", instructions != nullptr ? *instructions : json::value()},
                {"max_output_tokens", max_tokens ? json::value(*max_tokens) : json::value()},
                {"metadata", metadata != nullptr ? *metadata : json::object()},
                {"parallel_tool_calls", true},
                {"previous_response_id", nullptr},
                {"reasoning", {{"effort", effort}, {"summary", nullptr}}},
                {"store", false},
                {"temperature", shortest(out.generation.sampling.temperature)},
                {"text", {{"format", {{"type", "text"}}}}},
                {"tool_choice", "auto"},
                {"tools", json::array()},
                {"top_p", shortest(out.generation.sampling.top_p)},
                {"truncation", "disabled"}};
  return out;
}

}  // namespace gainz::host
