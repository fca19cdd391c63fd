#include "server/api/ollama_request.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "server/api/chat_messages.h"
#include "server/api/ollama_options.h"
#include "server/api/sampling_fields.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kLatest = ":latest";

void read_common(JsonFields& fields, OllamaRequest& out) {
  fields.refuse({"images"}, "this model takes text alone");
  if (const json::value* format = fields.any("format");
      format != nullptr && !(format->is_string() && format->get_string().empty()))
    throw bad_request("format", "format is not supported: answers are not constrained by this server", "unsupported_parameter");
  out.is_stream = fields.boolean("stream").value_or(true);
  out.keep_alive = read_keep_alive(fields);
  out.num_ctx = read_ollama_options(fields, out.generation);
  if (const json::value* think = fields.any("think")) {
    json::object vars;
    if (think->is_bool()) {
      vars["enable_thinking"] = think->get_bool();
      out.wants_thinking = think->get_bool();
    } else if (const auto level = fields.choice("think", {"low", "medium", "high"})) {
      vars["enable_thinking"] = true;
      vars["reasoning_effort"] = *level;
      out.wants_thinking = true;
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
  if (const json::value* found = out.if_contains("thinking")) {
    json::value thinking = *found;  // adding a field moves the others
    out.erase("thinking");
    out["reasoning_content"] = std::move(thinking);
  }
  return out;
}

}  // namespace

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
  if (is_raw) {
    if (out.wants_thinking) throw bad_request("think", "think has no place in a raw prompt", "invalid_value");
    out.generation.vars_json.reset();
  }
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
