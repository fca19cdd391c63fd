// POST /v1/chat/completions.
#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "config/settings.h"
#include "server/api/body.h"
#include "server/api/chat_messages.h"
#include "server/api/chat_request.h"
#include "server/api/choices.h"
#include "server/api/json_fields.h"
#include "server/api/openai_form.h"
#include "server/api/openai_handlers.h"
#include "server/api/token_text.h"
#include "server/thinking.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

// What one choice has said and not yet sent.
struct Choice {
  Thinking thinking;
  std::string reasoning, content;
  json::array logprobs;
  const char* finish_reason = nullptr;  // once it is over
  bool has_role = false;                // its first delta was sent
};

class Chat {
 public:
  Chat(ServerContext& server, const Exchange& exchange, std::shared_ptr<ServedModel> model, const ChatRequest& request,
       bool is_thinking)
      : model_(std::move(model)),
        texts_(server, *model_),
        has_logprobs_(request.generation.sampling.logprobs >= 0),
        wants_usage_(request.wants_usage),
        reasoning_field_(server.settings().text(key("server.reasoning_field"))),
        choices_(request.num_choices, Choice{Thinking(is_thinking), {}, {}, {}, nullptr, false}),
        head_(fmt::format(R"("id":{},"object":"chat.completion{}","created":{},"model":{},"system_fingerprint":{})",
                          json_quoted("chatcmpl-" + exchange.id()), request.is_stream ? ".chunk" : "", unix_now(),
                          json_quoted(model_->id()), json_quoted(system_fingerprint(*model_)))) {}

  void take(const ChoiceEvent& from) {
    Choice& choice = choices_[from.index];
    const GenerationEvent& event = from.event;
    if (event.kind == GAINZ_EVENT_TOKEN) {
      const bool was_inside = choice.thinking.is_inside();
      put(choice, choice.thinking.add(event.text));
      if (was_inside || choice.thinking.is_inside()) ++usage_.reasoning;
      if (has_logprobs_) choice.logprobs.push_back(texts_.entry(event));
    }
    if (event.kind != GAINZ_EVENT_DONE) return;
    put(choice, choice.thinking.add(event.text));
    put(choice, choice.thinking.finish());
    choice.finish_reason = finish_reason_of(event);
    if (from.index == 0) usage_.add_prompt(event);
    usage_.add_answer(event);
  }

  std::string body() const {
    std::string list;
    for (size_t i = 0; i < choices_.size(); ++i) {
      const Choice& choice = choices_[i];
      const std::string reasoning =
          choice.reasoning.empty() ? "" : fmt::format(R"(,"{}":{})", reasoning_field_, json_quoted(choice.reasoning));
      const std::string message =
          fmt::format(R"({{"role":"assistant","content":{}{},"refusal":null}})", json_quoted(choice.content), reasoning);
      list += fmt::format(R"({}{{"index":{},"message":{},"logprobs":{},"finish_reason":"{}"}})", i == 0 ? "" : ",", i, message,
                          logprobs_of(choice), choice.finish_reason);
    }
    return fmt::format(R"({{{},"choices":[{}],"usage":{}}})", head_, list, json_text(usage_.json()));
  }

  // The events for what was taken since the last time.
  std::string events() {
    std::string out;
    for (size_t i = 0; i < choices_.size(); ++i) {
      Choice& choice = choices_[i];
      if (!choice.reasoning.empty()) out += delta(i, reasoning_field_, std::exchange(choice.reasoning, {}));
      if (!choice.content.empty() || (!choice.logprobs.empty() && has_logprobs_))
        out += delta(i, "content", std::exchange(choice.content, {}));
      if (choice.finish_reason == nullptr) continue;
      if (!choice.has_role) out += delta(i, "content", "");
      out += chunk(i, "{}", "null", fmt::format("\"{}\"", std::exchange(choice.finish_reason, nullptr)));
    }
    return out;
  }
  std::string last_events() const {
    std::string out;
    if (wants_usage_) out = sse(fmt::format(R"({{{},"choices":[],"usage":{}}})", head_, json_text(usage_.json())));
    return out.append(kSseDone);
  }

 private:
  static void put(Choice& choice, ThoughtPiece piece) {
    choice.reasoning += piece.reasoning;
    choice.content += piece.content;
  }
  std::string logprobs_of(const Choice& choice) const {
    if (!has_logprobs_) return "null";
    return json_text(json::object{{"content", choice.logprobs}, {"refusal", nullptr}});
  }
  std::string delta(size_t index, std::string_view field, const std::string& text) {
    Choice& choice = choices_[index];
    const char* role = std::exchange(choice.has_role, true) ? "" : R"("role":"assistant",)";
    const std::string logprobs = logprobs_of(choice);
    choice.logprobs.clear();
    return chunk(index, fmt::format(R"({{{}"{}":{}}})", role, field, json_quoted(text)), logprobs, "null");
  }
  std::string chunk(size_t index, const std::string& delta, const std::string& logprobs, const std::string& finish) const {
    return sse(fmt::format(R"({{{},"choices":[{{"index":{},"delta":{},"logprobs":{},"finish_reason":{}}}]{}}})", head_, index,
                           delta, logprobs, finish, wants_usage_ ? R"(,"usage":null)" : ""));
  }

  std::shared_ptr<ServedModel> model_;
  TokenTexts texts_;
  const bool has_logprobs_, wants_usage_;
  const std::string reasoning_field_;
  std::vector<Choice> choices_;
  std::string head_;
  UsageCount usage_;
};

}  // namespace

asio::awaitable<void> chat_completions(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  const ChatRequest request = read_chat_request(body, server.settings());
  std::shared_ptr<ServedModel> model = co_await server.model(request.model);
  const bool is_thinking = co_await starts_thinking(server, model, request.generation.vars_json);
  std::vector<GenerationRequest> answers = repeated(request.generation, request.num_choices);
  std::unique_ptr<Choices> choices = co_await Choices::start(server, exchange, model, std::move(answers));
  Chat chat(server, exchange, model, request, is_thinking);
  if (request.is_stream) {
    co_await stream_events(exchange, *choices, chat);
    co_return;
  }
  while (!choices->is_over()) {
    const std::optional<ChoiceEvent> event = co_await choices->next(kNoLimit);
    if (event) chat.take(*event);
  }
  if (choices->is_cancelled()) co_return;
  HttpResponse response;
  response.body = chat.body();
  co_await exchange.send(std::move(response));
}

}  // namespace gainz::host
