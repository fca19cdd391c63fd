// POST /api/generate and /api/chat: one JSON object a line.
#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "server/api/body.h"
#include "server/api/chat_messages.h"
#include "server/api/choices.h"
#include "server/api/ollama_form.h"
#include "server/api/ollama_options.h"
#include "server/api/ollama_request.h"
#include "server/api_error.h"
#include "server/thinking.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using Clock = std::chrono::steady_clock;

int64_t nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

class OllamaAnswer {
 public:
  OllamaAnswer(std::string model, bool is_chat, bool is_thinking)
      : model_(std::move(model)), is_chat_(is_chat), thinking_(is_thinking) {}

  void take(const GenerationEvent& event) {
    if (event.kind == GAINZ_EVENT_TOKEN || event.kind == GAINZ_EVENT_DONE) put(thinking_.add(event.text));
    if (event.kind != GAINZ_EVENT_DONE) return;
    put(thinking_.finish());
    done_ = event;
  }
  // A line for what came since the last; "" if nothing did.
  std::string line() {
    if (reasoning_.empty() && content_.empty()) return "";
    return json_text(object(false)) + "\n";
  }
  std::string last_line(Clock::time_point begin, int64_t load_ns) {
    json::object out = object(true);
    out["done_reason"] = finish_reason_of(done_);
    out["total_duration"] = nanoseconds_since(begin);
    out["load_duration"] = load_ns;
    out["prompt_eval_count"] = done_.num_prompt_tokens;
    out["prompt_eval_duration"] = done_.prefill_us * 1000;
    out["eval_count"] = done_.num_generated_tokens;
    out["eval_duration"] = done_.decode_us * 1000;
    return json_text(out) + "\n";
  }

 private:
  void put(ThoughtPiece piece) {
    reasoning_ += piece.reasoning;
    content_ += piece.content;
  }
  json::object object(bool is_done) {
    json::object out{{"model", valid_utf8(model_)}, {"created_at", rfc3339_now()}};
    const std::string content = valid_utf8(std::exchange(content_, {}));
    const std::string reasoning = valid_utf8(std::exchange(reasoning_, {}));
    if (is_chat_) {
      json::object message{{"role", "assistant"}, {"content", content}};
      if (!reasoning.empty()) message["thinking"] = reasoning;
      out["message"] = std::move(message);
    } else {
      out["response"] = content;
      if (!reasoning.empty()) out["thinking"] = reasoning;
    }
    out["done"] = is_done;
    return out;
  }

  std::string model_;
  bool is_chat_;
  Thinking thinking_;
  std::string reasoning_, content_;
  GenerationEvent done_;
};

// A request without a prompt loads the model, or, with keep_alive 0, unloads it.
asio::awaitable<void> load_or_unload(ServerContext& server, Exchange& exchange, const OllamaRequest& request) {
  const bool unloads = request.keep_alive && request.keep_alive->count() == 0;
  if (unloads) {
    co_await server.unload_model(request.model);
  } else {
    co_await server.load_model(request.model);
    if (request.keep_alive) server.keep_alive(request.model, *request.keep_alive);
  }
  json::object out{{"model", valid_utf8(request.model)}, {"created_at", rfc3339_now()}};
  if (request.is_chat) {
    out["message"] = json::object{{"role", "assistant"}, {"content", ""}};
  } else {
    out["response"] = "";
  }
  out["done"] = true;
  out["done_reason"] = unloads ? "unload" : "load";
  HttpResponse response;
  response.body = json_text(out);
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> stream(Exchange& exchange, Choices& choices, OllamaAnswer& answer, Clock::time_point begin,
                             int64_t load_ns) {
  while (!choices.is_over()) {
    std::optional<ChoiceEvent> event = co_await choices.next(kNoLimit);
    std::string text;
    while (event) {
      answer.take(event->event);
      if (!choices.is_over()) text += answer.line();
      event = choices.try_next();
    }
    if (choices.is_cancelled()) co_return;
    if (choices.is_over()) text += answer.last_line(begin, load_ns);
    if (text.empty()) continue;
    if (!exchange.has_begun()) co_await exchange.begin_stream("application/x-ndjson");
    const bool is_open = co_await exchange.write(text);
    if (!is_open) co_return;
  }
  co_await exchange.end_stream();
}

asio::awaitable<void> respond(ServerContext& server, Exchange& exchange, OllamaRequest request) {
  const Clock::time_point begin = Clock::now();
  if (!request.has_prompt) {
    co_await load_or_unload(server, exchange, request);
    co_return;
  }
  std::shared_ptr<ServedModel> model = co_await server.model(request.model);
  const int64_t load_ns = nanoseconds_since(begin);
  check_num_ctx(request.num_ctx, *model);
  if (request.wants_thinking) {
    const bool can_think = co_await model_can_think(server, model);
    if (!can_think) throw bad_request("think", fmt::format("\"{}\" does not support thinking", printable(model->id())));
  }
  bool is_thinking = false;
  if (request.generation.messages_json) is_thinking = co_await starts_thinking(server, model, request.generation.vars_json);
  std::vector<GenerationRequest> one;
  one.push_back(std::move(request.generation));
  std::unique_ptr<Choices> choices = co_await Choices::start(server, exchange, model, std::move(one));
  if (request.keep_alive) server.keep_alive(request.model, *request.keep_alive);  // now that it is in use
  OllamaAnswer answer(model->id(), request.is_chat, is_thinking);
  if (request.is_stream) {
    co_await stream(exchange, *choices, answer, begin, load_ns);
    co_return;
  }
  while (!choices->is_over()) {
    const std::optional<ChoiceEvent> event = co_await choices->next(kNoLimit);
    if (event) answer.take(event->event);
  }
  if (choices->is_cancelled()) co_return;
  HttpResponse response;
  response.body = answer.last_line(begin, load_ns);
  co_await exchange.send(std::move(response));
}

}  // namespace

asio::awaitable<void> ollama_generate(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  OllamaRequest request = read_ollama_generate(body, server);
  co_await respond(server, exchange, std::move(request));
}

asio::awaitable<void> ollama_chat(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  OllamaRequest request = read_ollama_chat(body, server);
  co_await respond(server, exchange, std::move(request));
}

}  // namespace gainz::host
