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

  // The whole response, "completed" or "incomplete" once it is over.
  json::object object() const {
    json::object out{{"id", "resp_" + id_},
                     {"object", "response"},
                     {"created_at", created_},
                     {"status", !is_done_ ? "in_progress" : is_cut_ ? "incomplete" : "completed"},
                     {"error", nullptr},
                     {"incomplete_details", is_cut_ ? json::value{{"reason", "max_output_tokens"}} : json::value()},
                     {"model", valid_utf8(model_)}};
    for (const auto& field : echoed_) out.insert(field);
    json::array output;
    if (!all_reasoning_.empty()) output.push_back(reasoning_item(is_done_ || has_message_));
    if (has_message_ || is_done_) output.push_back(message_item(is_done_));
    out["output"] = std::move(output);
    out["usage"] = is_done_ ? json::value(usage()) : json::value();
    return out;
  }

  std::string events() {
    std::string out;
    if (!std::exchange(has_begun_, true)) {
      out += event("response.created", {{"response", object()}});
      out += event("response.in_progress", {{"response", object()}});
    }
    if (!reasoning_.empty()) {
      if (!std::exchange(has_reasoning_, true))
        out += event("response.output_item.added", {{"output_index", 0}, {"item", reasoning_item(false)}});
      out += event("response.reasoning_text.delta",
                   {{"item_id", "rs_" + id_}, {"output_index", 0}, {"content_index", 0}, {"delta", valid_utf8(reasoning_)}});
      all_reasoning_ += std::exchange(reasoning_, {});
    }
    if (!content_.empty()) {
      out += begin_message();
      out += text_event("response.output_text.delta", {{"delta", valid_utf8(content_)}, {"logprobs", json::array()}});
      all_content_ += std::exchange(content_, {});
    }
    return out;
  }

  std::string last_events() {
    std::string out = begin_message();
    out += text_event("response.output_text.done", {{"text", valid_utf8(all_content_)}, {"logprobs", json::array()}});
    out += text_event("response.content_part.done", {{"part", part()}});
    out += event("response.output_item.done", {{"output_index", message_index()}, {"item", message_item(true)}});
    out += event(is_cut_ ? "response.incomplete" : "response.completed", {{"response", object()}});
    return out;
  }

  // Everything that is pending counts, for the answer that is not streamed.
  json::object whole() {
    all_reasoning_ += std::exchange(reasoning_, {});
    all_content_ += std::exchange(content_, {});
    return object();
  }

 private:
  void put(ThoughtPiece piece) {
    reasoning_ += piece.reasoning;
    content_ += piece.content;
  }
  int message_index() const { return all_reasoning_.empty() ? 0 : 1; }
  json::object part() const {
    return {{"type", "output_text"},
            {"text", valid_utf8(all_content_)},
            {"annotations", json::array()},
            {"logprobs", json::array()}};
  }
  json::object message_item(bool is_whole) const {
    const char* status = !is_whole ? "in_progress" : is_cut_ ? "incomplete" : "completed";
    return {{"id", "msg_" + id_},
            {"type", "message"},
            {"status", status},
            {"role", "assistant"},
            {"content", is_whole ? json::array{part()} : json::array()}};
  }
  json::object reasoning_item(bool is_whole) const {
    json::array content;
    if (is_whole) content.push_back({{"type", "reasoning_text"}, {"text", valid_utf8(all_reasoning_)}});
    return {{"id", "rs_" + id_},
            {"type", "reasoning"},
            {"summary", json::array()},
            {"content", std::move(content)},
            {"status", is_whole ? "completed" : "in_progress"}};
  }
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
  std::string text_event(const char* type, json::object fields) {
    json::object out{{"item_id", "msg_" + id_}, {"output_index", message_index()}, {"content_index", 0}};
    for (auto& field : fields) out.insert(std::move(field));
    return event(type, std::move(out));
  }
  std::string begin_message() {
    if (std::exchange(has_message_, true)) return "";
    std::string out;
    if (has_reasoning_) {
      out += event("response.reasoning_text.done",
                   {{"item_id", "rs_" + id_}, {"output_index", 0}, {"content_index", 0}, {"text", valid_utf8(all_reasoning_)}});
      out += event("response.output_item.done", {{"output_index", 0}, {"item", reasoning_item(true)}});
    }
    out += event("response.output_item.added", {{"output_index", message_index()}, {"item", message_item(false)}});
    json::object empty = part();
    empty["text"] = "";
    out += text_event("response.content_part.added", {{"part", std::move(empty)}});
    return out;
  }

  const json::object echoed_;
  const std::string id_, model_;
  const int64_t created_;
  Thinking thinking_;
  std::string reasoning_, content_;          // not yet told
  std::string all_reasoning_, all_content_;  // told
  UsageCount usage_;
  int64_t sequence_ = 0;
  bool has_begun_ = false, has_reasoning_ = false, has_message_ = false, is_done_ = false, is_cut_ = false;
};

asio::awaitable<void> responses(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  ResponsesRequest request = read_responses_request(body, server.settings());
  std::shared_ptr<ServedModel> model = co_await server.model(request.model);
  const bool is_thinking = co_await starts_thinking(server, model, request.generation.vars_json);
  std::vector<GenerationRequest> one;
  one.push_back(request.generation);
  std::unique_ptr<Choices> choices = co_await Choices::start(server, exchange, model, std::move(one));
  Response answer(exchange, *model, request, is_thinking);
  if (request.is_stream) {
    co_await stream_events(exchange, *choices, answer);
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
