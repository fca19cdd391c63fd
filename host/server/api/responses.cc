// POST /v1/responses: text in, text out.
#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "server/api/body.h"
#include "server/api/chat_messages.h"
#include "server/api/json_fields.h"
#include "server/api/openai_handlers.h"
#include "server/api/responses_request.h"
#include "server/route.h"
#include "server/thinking.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

// The response as it grows: at most one reasoning item and then one message. Events count up; each tells one change.
class Response {
 public:
  Response(const Exchange& exchange, const ServedModel& model, const ResponsesRequest& request, bool is_thinking)
      : echoed_(request.echoed), id_(exchange.id()), model_(model.id()), created_(unix_now()), thinking_(is_thinking) {}

  void take(const ChoiceEvent& from) {
    const GenerationEvent& event = from.event;
    if (event.kind == GAINZ_EVENT_TOKEN || event.kind == GAINZ_EVENT_DONE) {
      const bool was_inside = thinking_.is_inside();
      put(thinking_.add(event.text));
      if (event.kind == GAINZ_EVENT_TOKEN && (was_inside || thinking_.is_inside())) ++usage_.reasoning;
    }
    if (event.kind != GAINZ_EVENT_DONE) return;
    put(thinking_.finish());
    usage_.add_prompt(event);
    usage_.add_answer(event);
    is_cut_ = event.finish_reason == GAINZ_FINISH_LENGTH;
    is_done_ = true;
  }

  std::string events() {
    std::string out;
    if (!std::exchange(has_begun_, true)) {
      out += event("response.created", {{"response", object("in_progress")}});
      out += event("response.in_progress", {{"response", object("in_progress")}});
    }
    if (!reasoning_.empty()) {
      out += begin_reasoning();
      all_reasoning_ += reasoning_;
      out += part_event("response.reasoning_text.delta", false, {{"delta", std::exchange(reasoning_, {})}});
    }
    if (!content_.empty()) {
      out += end_reasoning();  // each numbers its events
      out += begin_message();
      all_content_ += content_;
      out +=
          part_event("response.output_text.delta", true, {{"delta", std::exchange(content_, {})}, {"logprobs", json::array()}});
    }
    return out;
  }

  std::string last_events() {
    std::string out = end_reasoning();
    if (has_message()) {
      out += begin_message();
      out += part_event("response.output_text.done", true, {{"text", all_content_}, {"logprobs", json::array()}});
      out += part_event("response.content_part.done", true, {{"part", text_part(all_content_)}});
      out += item_event("response.output_item.done", true, message_item(last_status()));
    }
    out += event(is_cut_ ? "response.incomplete" : "response.completed", {{"response", object(last_status())}});
    return out;
  }

  // The last event of a response that came to grief after it had begun.
  std::string failed(const ApiError& error) {
    failure_ = {{"code", error.code.empty() ? error.type : error.code}, {"message", valid_utf8(error.message)}};
    return event("response.failed", {{"response", object("failed")}});
  }

  // Everything that is pending counts, for the answer that is not streamed.
  json::object whole() {
    all_reasoning_ += std::exchange(reasoning_, {});
    all_content_ += std::exchange(content_, {});
    return object(last_status());
  }

 private:
  void put(ThoughtPiece piece) {
    reasoning_ += valid_utf8(piece.reasoning);
    content_ += valid_utf8(piece.content);
  }
  const char* last_status() const { return is_cut_ ? "incomplete" : "completed"; }
  // Whether the output has a message: not if all there is is reasoning that was cut.
  bool has_message() const { return !all_content_.empty() || all_reasoning_.empty(); }

  json::object object(const char* status) const {
    const bool is_over = status != std::string_view("in_progress");
    const bool is_cut = status == std::string_view("incomplete");
    json::object out{{"id", "resp_" + id_},
                     {"object", "response"},
                     {"created_at", created_},
                     {"status", status},
                     {"error", failure_},
                     {"incomplete_details", is_cut ? json::value{{"reason", "max_output_tokens"}} : json::value()},
                     {"model", valid_utf8(model_)}};
    for (const auto& field : echoed_) out.insert(field);
    json::array output;
    const bool is_failed = !failure_.is_null();
    const bool is_cut_off = is_failed ? !has_ended_reasoning_ : !has_message();  // within the reasoning
    if (is_over && !all_reasoning_.empty()) output.push_back(reasoning_item(is_cut_off ? status : "completed"));
    if (is_over && (is_failed ? has_begun_message_ : has_message())) output.push_back(message_item(status));
    out["output"] = std::move(output);
    out["usage"] = is_done_ && is_over ? json::value(usage()) : json::value();
    return out;
  }
  json::object message_item(std::string_view status) const {
    // A response fails, its items are left unfinished.
    const bool has_text = status != "in_progress";
    return {{"id", "msg_" + id_},
            {"type", "message"},
            {"status", status == "failed" ? "incomplete" : status},
            {"role", "assistant"},
            {"content", has_text ? json::array{text_part(all_content_)} : json::array()}};
  }
  json::object reasoning_item(std::string_view status) const {
    const bool has_text = status != "in_progress";
    return {{"id", "rs_" + id_},
            {"type", "reasoning"},
            {"summary", json::array()},
            {"content", has_text ? json::array{reasoning_part(all_reasoning_)} : json::array()},
            {"status", status == "failed" ? "incomplete" : status}};
  }
  static json::object text_part(const std::string& text) {
    return {{"type", "output_text"}, {"text", text}, {"annotations", json::array()}, {"logprobs", json::array()}};
  }
  static json::object reasoning_part(const std::string& text) { return {{"type", "reasoning_text"}, {"text", text}}; }
  json::object usage() const {
    return {{"input_tokens", usage_.prompt},
            {"input_tokens_details", {{"cached_tokens", usage_.cached}}},
            {"output_tokens", usage_.completion},
            {"output_tokens_details", {{"reasoning_tokens", usage_.reasoning}}},
            {"total_tokens", usage_.prompt + usage_.completion}};
  }

  std::string event(const char* type, json::object fields) {
    json::object out{{"type", type}, {"sequence_number", sequence_++}};
    for (auto& field : fields) out.insert(std::move(field));
    return fmt::format("event: {}\ndata: {}\n\n", type, json_text(out));
  }
  // The reasoning, if there is any, is the first item of the output, and the message the next.
  std::string item_event(const char* type, bool is_message, json::object item) {
    return event(type, {{"output_index", is_message && has_reasoning_ ? 1 : 0}, {"item", std::move(item)}});
  }
  std::string part_event(const char* type, bool is_message, json::object fields) {
    json::object out{{"item_id", (is_message ? "msg_" : "rs_") + id_},
                     {"output_index", is_message && has_reasoning_ ? 1 : 0},
                     {"content_index", 0}};
    for (auto& field : fields) out.insert(std::move(field));
    return event(type, std::move(out));
  }
  std::string begin_reasoning() {
    if (std::exchange(has_reasoning_, true)) return "";
    std::string out = item_event("response.output_item.added", false, reasoning_item("in_progress"));
    return out + part_event("response.content_part.added", false, {{"part", reasoning_part("")}});
  }
  std::string end_reasoning() {
    if (!has_reasoning_ || std::exchange(has_ended_reasoning_, true)) return "";
    std::string out = part_event("response.reasoning_text.done", false, {{"text", all_reasoning_}});
    out += part_event("response.content_part.done", false, {{"part", reasoning_part(all_reasoning_)}});
    const bool is_cut = is_done_ && all_content_.empty() && content_.empty();
    return out + item_event("response.output_item.done", false, reasoning_item(is_cut ? last_status() : "completed"));
  }
  std::string begin_message() {
    if (std::exchange(has_begun_message_, true)) return "";
    std::string out = item_event("response.output_item.added", true, message_item("in_progress"));
    return out + part_event("response.content_part.added", true, {{"part", text_part("")}});
  }

  const json::object echoed_;
  const std::string id_, model_;
  const int64_t created_;
  Thinking thinking_;
  std::string reasoning_, content_;          // not yet told
  std::string all_reasoning_, all_content_;  // told
  UsageCount usage_;
  json::value failure_;
  int64_t sequence_ = 0;
  bool has_begun_ = false, has_reasoning_ = false, has_ended_reasoning_ = false, has_begun_message_ = false;
  bool is_done_ = false, is_cut_ = false;
};

// After the first event a failure is one more event.
asio::awaitable<void> stream_response(Exchange& exchange, Choices& choices, Response& answer) {
  std::optional<ApiError> failure;
  try {
    co_await stream_events(exchange, choices, answer);
  } catch (const ApiError& error) {
    if (!exchange.has_begun()) throw;
    failure = error;
  }
  if (!failure) co_return;
  const std::string text = answer.failed(*failure);
  co_await exchange.write(text);
  co_await exchange.end_stream();
}

// Its errors call the messages what the route calls them.
asio::awaitable<std::unique_ptr<Choices>> start_response(ServerContext& server, Exchange& exchange,
                                                         std::shared_ptr<ServedModel> model, GenerationRequest request) {
  std::vector<GenerationRequest> one;
  one.push_back(std::move(request));
  std::optional<ApiError> failure;
  std::unique_ptr<Choices> out;
  try {
    out = co_await Choices::start(server, exchange, model, std::move(one));
  } catch (const ApiError& error) {
    failure = error;
  }
  if (failure && failure->parameter == "messages") failure->parameter = "input";
  if (failure) throw *failure;
  co_return out;
}

asio::awaitable<void> responses(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  ResponsesRequest request = read_responses_request(body, server.settings());
  std::shared_ptr<ServedModel> model = co_await server.model(request.model);
  const bool is_thinking = co_await starts_thinking(server, model, request.generation.vars_json);
  std::unique_ptr<Choices> choices = co_await start_response(server, exchange, model, request.generation);
  Response answer(exchange, *model, request, is_thinking);
  if (request.is_stream) {
    co_await stream_response(exchange, *choices, answer);
    co_return;
  }
  while (!choices->is_over()) {
    const std::optional<ChoiceEvent> event = co_await choices->next(kNoLimit);
    if (event) answer.take(*event);
  }
  if (choices->is_cancelled()) co_return;
  HttpResponse response = json_response(answer.whole());
  co_await exchange.send(std::move(response));
}

constexpr Route kRoutes[] = {
    {"POST", "/v1/responses", responses, ErrorForm::openai, true, "Answer an input"},
};

}  // namespace

std::span<const Route> responses_routes() { return kRoutes; }

}  // namespace gainz::host
