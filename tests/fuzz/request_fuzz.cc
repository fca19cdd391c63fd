// Fuzzes the JSON bodies of the API and the lines of batch files: the first byte, a digit, chooses the reader. Whatever is
// wrong is an ApiError 400 (404: a model's name) whose body is JSON in UTF-8, in both forms; whatever is right is what the
// handlers take.
#include <boost/json.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "batch/task.h"
#include "server/api/chat_request.h"
#include "server/api/embedding_request.h"
#include "server/api/json_fields.h"
#include "server/api/ollama_request.h"
#include "server/api/responses_request.h"
#include "server/api/unique_json.h"
#include "server/api_error.h"
#include "server/http/response_head.h"

namespace {

using gainz::host::ErrorForm;
using gainz::host::GenerationRequest;
namespace json = boost::json;

constexpr size_t kMaxDepth = 64;  // [server].max_json_depth

void check(bool holds) {
  if (!holds) std::abort();
}

void check_generation(const GenerationRequest& request) {
  check(!request.prompt_ids.empty() + request.prompt.has_value() + request.messages_json.has_value() <= 1);
  for (const auto& text : {request.messages_json, request.tools_json, request.vars_json}) {
    boost::system::error_code error;
    if (text) json::parse(*text, error);
    check(!error);
  }
  check(std::isfinite(request.sampling.temperature) && std::isfinite(request.sampling.top_p));
  for (const std::string& stop : request.stop) check(!stop.empty() && stop.find('\0') == std::string::npos);
  for (const gainz_logit_bias& bias : request.logit_bias) check(std::isfinite(bias.bias));
}

// A server with one model and the default settings.
class Server final : public gainz::host::ServerContext {
 public:
  template <class T>
  using Later = boost::asio::awaitable<T>;
  gainz_runtime* runtime() override { return nullptr; }
  const gainz::host::Settings& settings() const override { return settings_; }
  gainz::host::Generations& generations() override { std::abort(); }
  Later<std::shared_ptr<gainz::host::ServedModel>> model(std::string) override { std::abort(); }
  std::vector<gainz::host::ModelState> models() const override {
    gainz::host::ModelState out;
    out.id = "m";
    return {out};
  }
  Later<void> load_model(std::string) override { std::abort(); }
  Later<void> unload_model(std::string) override { std::abort(); }
  void keep_alive(const std::string&, std::chrono::seconds) override {}
  Later<void> off_thread(std::function<void()>) override { std::abort(); }
  std::string metrics_text() override { return ""; }
  bool is_draining() const override { return false; }
  double uptime_seconds() const override { return 0; }

 private:
  gainz::host::Settings settings_;
};

void read_task_line(std::string_view text) {
  const auto task = gainz::host::read_task(text, 7, kMaxDepth);
  if (!task.ok()) {
    const std::string line = gainz::host::bad_line(7, task.failure().sentence);
    check(gainz::host::id_of_result(line) == gainz::host::bad_line_id(7));
    return;
  }
  const gainz::host::TaskAnswer answer = {200, "{\"text\":\"\",\"choices\":[]}", "req"};
  for (const std::string& line : {answer_line(*task, answer), failure_line(*task, answer, 2)}) {
    check(line.find('\n') == line.size() - 1);
    check(gainz::host::id_of_result(line) == task->id);
  }
  check(!gainz::host::parse_unique_json(task->body, kMaxDepth + 1).error);  // may be empty: the route says what is missing
}

void read(uint8_t route, const json::object& body) {
  static const Server server;
  const gainz::host::Settings& settings = server.settings();
  if (route == 3) {
    check_generation(read_responses_request(body, settings).generation);
  } else if (route == 4) {
    check_generation(read_ollama_generate(body, server).generation);
  } else if (route == 5) {
    check_generation(read_ollama_chat(body, server).generation);
  } else if (route == 0) {
    const auto request = gainz::host::read_chat_request(body, settings);
    check(request.num_choices > 0 && request.generation.messages_json.has_value());
    check_generation(request.generation);
  } else if (route == 1) {
    const auto request = gainz::host::read_completion_request(body, settings);
    check(request.num_choices > 0 && !request.prompts.empty());
    for (const GenerationRequest& generation : request.prompts) check_generation(generation);
  } else {
    gainz::host::JsonFields fields(body);
    for (const GenerationRequest& generation : read_embedding_inputs(fields, "input")) check_generation(generation);
    fields.integer("dimensions", 1, 1 << 24);
    fields.choice("encoding_format", {"float", "base64"});
    fields.finish();
  }
}

// The parser that refuses doubled names reads what Boost's own reads.
void check_parser(std::string_view text) {
  const gainz::host::UniqueJson ours = gainz::host::parse_unique_json(text, kMaxDepth);
  json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::system::error_code error;
  const json::value theirs = json::parse(text, error, {}, options);
  const bool has_exponent = text.find_first_of("eE") != std::string_view::npos;  // 0e400 is no number there
  if (!ours.error) check(!error && (has_exponent || ours.value == theirs));
  if (ours.error && ours.problem.empty() && ours.error != json::error::object_too_large) check(error.failed());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t route = static_cast<uint8_t>(data[0] - '0') % 7;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_parser(text);
  try {
    if (route == 6) {
      read_task_line(text);
    } else {
      read(route, gainz::host::parse_body(text, kMaxDepth));
    }
  } catch (const gainz::host::ApiError& error) {
    check((error.status == 400 || error.status == 404) && !error.message.empty());
    for (const ErrorForm form : {ErrorForm::openai, ErrorForm::ollama}) {
      boost::system::error_code why;
      json::parse(error_response(form, error).body, why);  // refuses invalid UTF-8 too
      check(!why);
    }
  }
  return 0;
}
