#include "server/api/chat_messages.h"

#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>

#include "base/json_text.h"
#include "server/api_error.h"
#include "server/thinking.h"

namespace gainz::host {
namespace {

namespace json = boost::json;
constexpr std::string_view kNoTools = "this server has no tools";

std::string read_part(const json::value& value, const std::string& path) {
  if (value.is_string()) return std::string(value.get_string());
  if (!value.is_object())
    throw bad_request(path, fmt::format("{} must be a content part, not {}", path, shown_json(value)), "invalid_value");
  JsonFields part(value.get_object(), path);
  const std::string type = part.required_text("type");
  if (type != "text" && type != "input_text" && type != "output_text" && type != "refusal") {
    throw bad_request(path + ".type", fmt::format("{}.type is {}: this model takes text alone", path, shown_text(type)),
                      "unsupported_content_type");
  }
  std::string text = part.required_text(type == "refusal" ? "refusal" : "text");
  part.refuse({"annotations", "logprobs"}, "only what an answer of this server holds can be sent back");
  part.finish();
  return text;
}

}  // namespace

json::object read_message(const json::value& value, const std::string& path,
                          std::initializer_list<std::string_view> without_effect) {
  if (!value.is_object())
    throw bad_request(path, fmt::format("{} must be a message, not {}", path, shown_json(value)), "invalid_value");
  JsonFields fields(value.get_object(), path);
  const std::string role = fields.required_text("role");
  if (role == "tool" || role == "function")
    throw bad_request(path + ".role", fmt::format("{}.role is \"{}\": {}", path, role, kNoTools), "unsupported_value");
  if (role != "system" && role != "developer" && role != "user" && role != "assistant") {
    throw bad_request(
        path + ".role",
        fmt::format("{}.role must be \"system\", \"developer\", \"user\" or \"assistant\", not {}", path, shown_text(role)),
        "invalid_value");
  }
  json::object out{{"role", role == "developer" ? "system" : role}};
  const json::value* content = fields.any("content");
  if (content == nullptr && role != "assistant")
    throw bad_request(path + ".content", fmt::format("{}.content is missing", path), "missing_required_parameter");
  out["content"] = content != nullptr ? read_content(*content, path + ".content") : "";
  if (auto name = fields.text("name")) out["name"] = *name;
  if (role == "assistant") {
    auto reasoning = fields.text("reasoning_content");
    if (const auto other = fields.text("reasoning")) {  // Ollama's and LM Studio's name
      if (reasoning && *reasoning != *other)
        throw bad_request(path + ".reasoning", fmt::format("{0}.reasoning and {0}.reasoning_content differ", path),
                          "invalid_value");
      reasoning = other;
    }
    if (reasoning) out["reasoning_content"] = *reasoning;
    fields.refuse({"annotations"}, "only what an answer of this server holds can be sent back");
    fields.refuse({"tool_calls", "function_call"}, kNoTools);
    fields.refuse({"audio"}, "this model takes text alone");
    fields.refuse({"refusal"}, "a refusal is written as content");
  }
  fields.accept(without_effect);
  fields.finish();
  return out;
}

std::string read_content(const json::value& content, const std::string& path) {
  if (content.is_string()) return std::string(content.get_string());
  if (!content.is_array())
    throw bad_request(path, fmt::format("{} must be a text or a list of text parts, not {}", path, shown_json(content)),
                      "invalid_value");
  std::string out;
  const json::array& parts = content.get_array();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += '\n';
    out += read_part(parts[i], fmt::format("{}[{}]", path, i));
  }
  return out;
}

json::array read_messages(JsonFields& fields) {
  const json::array* messages = fields.array("messages", kMaxMessages);
  if (messages == nullptr) throw bad_request("messages", "messages is missing", "missing_required_parameter");
  if (messages->empty()) throw bad_request("messages", "messages is empty; at least one message is needed", "invalid_value");
  json::array out;
  for (size_t i = 0; i < messages->size(); ++i) out.push_back(read_message((*messages)[i], fmt::format("messages[{}]", i)));
  return out;
}

std::optional<std::string> read_effort(JsonFields& fields, std::string_view name) {
  return fields.choice(name, {"none", "minimal", "low", "medium", "high", "xhigh"});
}

void read_template_vars(JsonFields& fields, GenerationRequest& request) {
  read_template_vars(fields, read_effort(fields, "reasoning_effort"), request);
}

void read_template_vars(JsonFields& fields, const std::optional<std::string>& effort, GenerationRequest& request) {
  const json::object* given = fields.object("chat_template_kwargs");
  json::object vars = given != nullptr ? *given : json::object();
  if (effort) {
    if (vars.contains("reasoning_effort"))
      throw bad_request("chat_template_kwargs.reasoning_effort", "the reasoning effort is given twice", "invalid_value");
    vars["reasoning_effort"] = *effort;
    if (*effort == "none" && !vars.contains("enable_thinking")) vars["enable_thinking"] = false;
  }
  if (!vars.empty()) request.vars_json = json_text(vars);
}

boost::asio::awaitable<bool> starts_thinking(ServerContext& server, std::shared_ptr<ServedModel> model,
                                             std::optional<std::string> vars_json) {
  if (!vars_json) co_return model->opens_thinking();
  const auto opens = std::make_shared<bool>(false);
  std::function<void()> work = [opens, model, vars = *vars_json, runtime = server.runtime()] {
    *opens = template_opens_thinking(runtime, model->runtime_id(), vars.c_str());
  };
  co_await server.off_thread(std::move(work));
  co_return *opens;
}

}  // namespace gainz::host
