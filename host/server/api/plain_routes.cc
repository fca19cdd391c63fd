// The plain routes: a prompt and its answer, text and tokens, health, metrics, the models in memory.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <numeric>

#include "base/json_text.h"
#include "base/text.h"
#include "server/api/body.h"
#include "server/api/chat_messages.h"
#include "server/api/chat_request.h"
#include "server/api/openai_handlers.h"
#include "server/api/openapi.h"
#include "server/api/sampling_fields.h"
#include "server/route.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

asio::awaitable<void> health(ServerContext& server, Exchange& exchange) {
  bool is_ready = false, is_loading = false, has_failed = false;
  json::array models;
  for (const ModelState& state : server.models()) {
    json::object model{{"id", state.id}, {"state", state.state}};
    if (state.state == "loading") model["progress"] = std::round(state.progress * 1000) / 1000;
    if (!state.reason.empty()) model["reason"] = valid_utf8(state.reason);
    models.push_back(std::move(model));
    is_loading |= state.state == "loading";
    has_failed |= state.state == "failed";
    is_ready |= state.state == "ready" || state.state == "unloaded";  // the latter is loaded when it is asked for
  }
  is_ready &= !server.is_draining();
  const char* status = server.is_draining() ? "draining" : !is_ready && is_loading ? "loading" : has_failed ? "degraded" : "ok";
  HttpResponse response =
      json_response(json::object{{"status", status}, {"live", true}, {"ready", is_ready}, {"models", std::move(models)}});
  if (!is_ready) {
    response.status = 503;
    response.headers.emplace_back("retry-after", "1");
  }
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> version(ServerContext&, Exchange& exchange) {
  HttpResponse response = json_response(json::object{{"name", "gainz"}, {"version", gainz_version()}});
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> metrics(ServerContext& server, Exchange& exchange) {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = server.metrics_text();
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> openapi(ServerContext&, Exchange& exchange) {
  HttpResponse response = json_response(openapi_document());
  co_await exchange.send(std::move(response));
}

// One answer to a prompt; streamed, each piece of text is an event of its own and the last one has the counts.
class PlainAnswer {
 public:
  explicit PlainAnswer(std::string model) : model_(std::move(model)) {}
  void take(const ChoiceEvent& from) {
    if (from.event.kind == GAINZ_EVENT_TOKEN || from.event.kind == GAINZ_EVENT_DONE) text_ += from.event.text;
    if (from.event.kind == GAINZ_EVENT_DONE) done_ = from.event;
  }
  json::object object() {
    return {{"text", valid_utf8(std::exchange(text_, {}))},
            {"completion_tokens", done_.num_generated_tokens},
            {"prompt_tokens", done_.num_prompt_tokens},
            {"cached_tokens", done_.num_cached_tokens},
            {"drafted_tokens", std::accumulate(done_.num_drafted.begin(), done_.num_drafted.end(), 0u)},
            {"accepted_tokens", std::accumulate(done_.num_accepted.begin(), done_.num_accepted.end(), 0u)},
            {"finish_reason", finish_reason_of(done_)},
            {"model", valid_utf8(model_)},
            {"seed", done_.seed}};
  }
  std::string events() {
    if (text_.empty() || done_.kind == GAINZ_EVENT_DONE) return "";
    return sse(fmt::format(R"({{"text":{}}})", json_quoted(std::exchange(text_, {}))));
  }
  std::string last_events() { return sse(json_text(object())).append(kSseDone); }

 private:
  std::string model_, text_;
  GenerationEvent done_;
};

asio::awaitable<void> generate(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  JsonFields fields(body);
  const std::string name = fields.text("model").value_or("");
  GenerationRequest request;
  set_default_sampling(server.settings(), request);
  request.prompt = fields.required_text("prompt");
  read_sampling(fields, request);
  request.prediction = fields.text("prediction");
  if (const auto max_tokens = fields.integer("max_tokens", 0, kMaxTokens32))
    request.sampling.max_tokens = static_cast<int32_t>(*max_tokens);
  const bool is_stream = fields.boolean("stream").value_or(false);
  fields.finish();
  std::shared_ptr<ServedModel> model = co_await server.model(name);
  std::vector<GenerationRequest> one;
  one.push_back(std::move(request));
  std::unique_ptr<Choices> choices = co_await Choices::start(server, exchange, model, std::move(one));
  PlainAnswer answer(model->id());
  if (is_stream) {
    co_await stream_events(exchange, *choices, answer);
    co_return;
  }
  while (!choices->is_over()) {
    const std::optional<ChoiceEvent> event = co_await choices->next(kNoLimit);
    if (event) answer.take(*event);
  }
  if (choices->is_cancelled()) co_return;
  HttpResponse response = json_response(answer.object());
  co_await exchange.send(std::move(response));
}

// What a C function that hands out memory answered, on a worker.
struct Told {
  gainz_code code = GAINZ_OK;
  std::string error, text;
  std::vector<int32_t> ids;
};

asio::awaitable<void> tokenize(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  JsonFields fields(body);
  const std::string name = fields.text("model").value_or("");
  auto content = std::make_shared<std::string>(fields.required_text("content"));
  const uint32_t flags = (fields.boolean("parse_special").value_or(false) ? GAINZ_TEXT_PARSE_SPECIAL : 0) |
                         (fields.boolean("add_special").value_or(false) ? GAINZ_TEXT_ADD_SPECIAL : 0);
  fields.finish();
  std::shared_ptr<ServedModel> model = co_await server.model(name);
  const auto told = std::make_shared<Told>();
  std::function<void()> work = [told, content, flags, model, runtime = server.runtime()] {
    int32_t* ids = nullptr;
    size_t num_ids = 0;
    char error[1024] = "";
    told->code = gainz_tokenize(runtime, model->runtime_id(), content->data(), content->size(), flags, &ids, &num_ids, error,
                                sizeof error);
    told->error = error;
    if (told->code == GAINZ_OK) told->ids.assign(ids, ids + num_ids);
    gainz_free(runtime, ids);
  };
  co_await server.off_thread(std::move(work));
  if (told->code != GAINZ_OK) throw of_runtime(told->code, told->error, model->id());
  HttpResponse response =
      json_response(json::object{{"tokens", json::array(told->ids.begin(), told->ids.end())}, {"count", told->ids.size()}});
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> detokenize(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  JsonFields fields(body);
  const std::string name = fields.text("model").value_or("");
  const json::array* tokens = fields.array("tokens", kMaxTokens32);
  if (tokens == nullptr) throw bad_request("tokens", "tokens is missing", "missing_required_parameter");
  const auto told = std::make_shared<Told>();
  if (!tokens->empty()) told->ids = read_ids(*tokens, "tokens");
  const uint32_t flags = fields.boolean("skip_special").value_or(false) ? GAINZ_TEXT_SKIP_SPECIAL : 0;
  fields.finish();
  std::shared_ptr<ServedModel> model = co_await server.model(name);
  std::function<void()> work = [told, flags, model, runtime = server.runtime()] {
    char* text = nullptr;
    size_t num_bytes = 0;
    char error[1024] = "";
    told->code = gainz_detokenize(runtime, model->runtime_id(), told->ids.data(), told->ids.size(), flags, &text, &num_bytes,
                                  error, sizeof error);
    told->error = error;
    if (told->code == GAINZ_OK) told->text.assign(text, num_bytes);
    gainz_free(runtime, text);
  };
  co_await server.off_thread(std::move(work));
  if (told->code != GAINZ_OK) throw of_runtime(told->code, told->error, model->id());
  HttpResponse response = json_response(json::object{{"content", valid_utf8(told->text)}});
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> apply_template(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  JsonFields fields(body);
  const std::string name = fields.text("model").value_or("");
  const auto messages = std::make_shared<std::string>(json_text(read_messages(fields)));
  const auto request = std::make_shared<GenerationRequest>();
  read_template_vars(fields, *request);
  const bool adds_prompt = fields.boolean("add_generation_prompt").value_or(true);
  fields.finish();
  std::shared_ptr<ServedModel> model = co_await server.model(name);
  const auto told = std::make_shared<Told>();
  std::function<void()> work = [told, messages, request, adds_prompt, model, runtime = server.runtime()] {
    char* text = nullptr;
    size_t num_bytes = 0;
    char error[1024] = "";
    const char* vars = request->vars_json ? request->vars_json->c_str() : nullptr;
    told->code = gainz_apply_template(runtime, model->runtime_id(), messages->c_str(), nullptr, vars, adds_prompt ? 1 : 0,
                                      &text, &num_bytes, error, sizeof error);
    told->error = error;
    if (told->code == GAINZ_OK) told->text.assign(text, num_bytes);
    gainz_free(runtime, text);
  };
  co_await server.off_thread(std::move(work));
  if (told->code != GAINZ_OK) throw of_runtime(told->code, told->error, model->id());
  HttpResponse response = json_response(json::object{{"prompt", valid_utf8(told->text)}});
  co_await exchange.send(std::move(response));
}

std::string read_model_name(const json::object& body) {
  JsonFields fields(body);
  std::string out = fields.required_text("model");
  fields.finish();
  return out;
}

asio::awaitable<void> load(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  const std::string id = read_model_name(body);
  co_await server.load_model(id);
  HttpResponse response = json_response(json::object{{"model", id}, {"state", "ready"}});
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> unload(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  const std::string id = read_model_name(body);
  co_await server.unload_model(id);
  HttpResponse response = json_response(json::object{{"model", id}, {"state", "unloaded"}});
  co_await exchange.send(std::move(response));
}

constexpr Route kRoutes[] = {
    {"GET", "/health", health, ErrorForm::openai, false, "Whether the server answers, and the state of each model"},
    {"GET", "/version", version, ErrorForm::openai, true, "The server's version"},
    {"GET", "/metrics", metrics, ErrorForm::openai, true, "Measurements in Prometheus' text format"},
    {"GET", "/openapi.json", openapi, ErrorForm::openai, true, "This list"},
    {"POST", "/generate", generate, ErrorForm::openai, true, "Continue a prompt"},
    {"POST", "/tokenize", tokenize, ErrorForm::openai, true, "A text as token ids"},
    {"POST", "/detokenize", detokenize, ErrorForm::openai, true, "Token ids as a text"},
    {"POST", "/apply-template", apply_template, ErrorForm::openai, true, "A chat as the model's prompt"},
    {"POST", "/models/load", load, ErrorForm::openai, true, "Load a model"},
    {"POST", "/models/unload", unload, ErrorForm::openai, true, "Unload a model; its requests end with an error"},
};

}  // namespace

std::span<const Route> plain_routes() { return kRoutes; }

}  // namespace gainz::host
