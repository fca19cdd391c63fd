#include "batch/task.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_text.h"
#include "server/api/json_fields.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

std::string read_id(JsonFields& fields, std::string_view name) {
  const json::value* id = fields.any(name);
  if (id == nullptr || (!id->is_string() && !id->is_int64() && !id->is_uint64()))
    throw bad_request(std::string(name), fmt::format("{} must be a text or an integer", name));
  return json::serialize(*id);
}

Task read_openai(const json::object& object) {
  Task out;
  out.shape = TaskShape::openai;
  JsonFields fields(object);
  out.id = read_id(fields, "custom_id");
  fields.choice("method", {"POST"});
  out.url = fields.required_text("url");
  const json::object* body = fields.object("body");
  if (body == nullptr) throw bad_request("body", "body is missing");
  out.body = json::serialize(*body);
  fields.finish();
  return out;
}

// Everything but the id is the body of /generate.
Task read_simple(json::object object) {
  Task out;
  JsonFields fields(object);
  out.id = read_id(fields, "task_id");
  object.erase("task_id");
  out.url = "/generate";
  out.body = json::serialize(object);
  return out;
}

json::value parsed(const std::string& body) {
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  return error ? json::value(body) : value;
}

}  // namespace

Result<Task> read_task(std::string_view text, uint64_t line, size_t max_depth) {
  try {
    json::object object = parse_body(text, max_depth);
    Task out = object.contains("custom_id") ? read_openai(object) : read_simple(std::move(object));
    out.line = line;
    return out;
  } catch (const ApiError& error) {
    return Failure{error.message};
  }
}

std::string answer_line(const Task& task, const TaskAnswer& answer) {
  if (task.shape == TaskShape::simple) {
    json::object out{{"task_id", parsed(task.id)}};
    const json::value body = parsed(answer.body);
    if (const auto* fields = body.if_object()) {
      for (const auto& field : *fields) out.insert(field);
    }
    return json_text(out) + "\n";
  }
  json::object response{{"status_code", answer.status}, {"request_id", answer.request_id}, {"body", parsed(answer.body)}};
  return json_text(json::object{{"id", "batch_" + answer.request_id},
                                {"custom_id", parsed(task.id)},
                                {"response", std::move(response)},
                                {"error", nullptr}}) +
         "\n";
}

std::string failure_line(const Task& task, const TaskAnswer& answer, uint64_t num_attempts) {
  const char* name = task.shape == TaskShape::simple ? "task_id" : "custom_id";
  json::object out{{name, parsed(task.id)}, {"line", task.line}, {"attempts", num_attempts}, {"status_code", answer.status}};
  const json::value body = parsed(answer.body);
  const auto* fields = body.if_object();
  const json::value* error = fields != nullptr ? fields->if_contains("error") : nullptr;
  out["error"] = error != nullptr ? *error : body;
  return json_text(out) + "\n";
}

std::string bad_line(uint64_t line, std::string_view sentence) {
  return json_text(json::object{{"line", line}, {"error", {{"message", json::string(sentence)}, {"code", "bad_line"}}}}) + "\n";
}

std::string bad_line_id(uint64_t line) { return fmt::format("#{}", line); }

std::string id_of_result(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const auto* object = error ? nullptr : value.if_object();
  if (object == nullptr) return "";
  // What tells a result from a task, so that nobody's tasks are taken for answers.
  const bool is_result = object->contains("error") || object->contains("response") || object->contains("text");
  if (!is_result) return "";
  for (const char* name : {"custom_id", "task_id"}) {
    if (const json::value* id = object->if_contains(name)) return json::serialize(*id);
  }
  const json::value* line = object->if_contains("line");
  const auto* number = line != nullptr ? line->if_int64() : nullptr;
  return number != nullptr ? bad_line_id(static_cast<uint64_t>(*number)) : "";
}

}  // namespace gainz::host
