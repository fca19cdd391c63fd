// POST /v1/completions.
#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "server/api/body.h"
#include "server/api/chat_request.h"
#include "server/api/json_fields.h"
#include "server/api/openai_handlers.h"
#include "server/api/token_text.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

struct Choice {
  std::string text;
  LegacyLogprobs logprobs;
  const char* finish_reason = nullptr;
  bool is_new = false;  // something to tell; what a prompt has to tell waits for the first token of its answer
};

// The prompt as it is echoed, and, for its log-probabilities, its first token and what its tokens hold and it does not show.
struct Echo {
  std::string text;
  std::optional<int32_t> first_id;
  size_t num_hidden_bytes = 0;
};

class Completion {
 public:
  Completion(ServerContext& server, const Exchange& exchange, std::shared_ptr<ServedModel> model,
             const CompletionRequest& request)
      : model_(std::move(model)),
        texts_(server, *model_),
        num_choices_(request.num_choices),
        has_logprobs_(request.prompts[0].sampling.logprobs >= 0),
        wants_usage_(request.wants_usage),
        choices_(request.prompts.size() * request.num_choices),
        head_(fmt::format(R"("id":{},"object":"text_completion","created":{},"model":{},"system_fingerprint":{})",
                          json_quoted("cmpl-" + exchange.id()), unix_now(), json_quoted(model_->id()),
                          json_quoted(system_fingerprint(*model_)))) {}

  void echo(const std::vector<Echo>& prompts) {
    for (size_t i = 0; i < choices_.size(); ++i) {
      const Echo& prompt = prompts[i / num_choices_];
      choices_[i].text = prompt.text;
      if (has_logprobs_ && prompt.first_id) choices_[i].logprobs.begin(texts_, *prompt.first_id, prompt.num_hidden_bytes);
    }
  }
  void take(const ChoiceEvent& from) {
    Choice& choice = choices_[from.index];
    const GenerationEvent& event = from.event;
    const bool is_token = event.kind == GAINZ_EVENT_TOKEN;
    if (has_logprobs_ && (is_token || event.kind == GAINZ_EVENT_PROMPT_LOGPROB)) choice.logprobs.add(texts_, event);
    if (is_token || event.kind == GAINZ_EVENT_DONE) choice.text += event.text;
    choice.is_new |= event.kind == GAINZ_EVENT_DONE || (is_token && (has_logprobs_ || !event.text.empty()));
    if (event.kind != GAINZ_EVENT_DONE) return;
    choice.finish_reason = finish_reason_of(event);
    if (from.index % num_choices_ == 0) usage_.add_prompt(event);
    usage_.add_answer(event);
  }
  std::string body() {
    std::string list;
    for (size_t i = 0; i < choices_.size(); ++i) list += (i == 0 ? "" : ",") + choice_text(i);
    return fmt::format(R"({{{},"choices":[{}],"usage":{}}})", head_, list, json_text(usage_.json()));
  }
  std::string events() {
    std::string out;
    for (size_t i = 0; i < choices_.size(); ++i) {
      if (!std::exchange(choices_[i].is_new, false)) continue;
      out += sse(fmt::format(R"({{{},"choices":[{}]{}}})", head_, choice_text(i), wants_usage_ ? R"(,"usage":null)" : ""));
    }
    return out;
  }
  std::string last_events() const {
    std::string out;
    if (wants_usage_) out = sse(fmt::format(R"({{{},"choices":[],"usage":{}}})", head_, json_text(usage_.json())));
    return out.append(kSseDone);
  }

 private:
  std::string choice_text(size_t index) {
    Choice& choice = choices_[index];
    const std::string text = json_quoted(std::exchange(choice.text, {}));
    const std::string logprobs = has_logprobs_ ? json_text(choice.logprobs.take()) : "null";
    const char* reason = std::exchange(choice.finish_reason, nullptr);
    return fmt::format(R"({{"index":{},"text":{},"logprobs":{},"finish_reason":{}}})", index, text, logprobs,
                       reason != nullptr ? fmt::format("\"{}\"", reason) : "null");
  }

  std::shared_ptr<ServedModel> model_;
  TokenTexts texts_;
  const size_t num_choices_;
  const bool has_logprobs_, wants_usage_;
  std::vector<Choice> choices_;
  std::string head_;
  UsageCount usage_;
};

std::string detokenized(gainz_runtime* runtime, gainz_model_id model, const std::vector<int32_t>& ids, uint32_t flags) {
  char* text = nullptr;
  size_t num_bytes = 0;
  if (gainz_detokenize(runtime, model, ids.data(), ids.size(), flags, &text, &num_bytes, nullptr, 0) != GAINZ_OK) return "";
  std::string out(text, num_bytes);
  gainz_free(runtime, text);
  return out;
}

std::vector<int32_t> tokenized(gainz_runtime* runtime, gainz_model_id model, const std::string& text) {
  int32_t* ids = nullptr;
  size_t num_ids = 0;
  if (gainz_tokenize(runtime, model, text.data(), text.size(), GAINZ_TEXT_ADD_SPECIAL, &ids, &num_ids, nullptr, 0) != GAINZ_OK)
    return {};
  std::vector<int32_t> out(ids, ids + num_ids);
  gainz_free(runtime, ids);
  return out;
}

std::vector<Echo> echoes_of(gainz_runtime* runtime, gainz_model_id model, const std::vector<GenerationRequest>& prompts) {
  std::vector<Echo> out;
  for (const GenerationRequest& request : prompts) {
    const std::vector<int32_t> ids = request.prompt ? tokenized(runtime, model, *request.prompt) : request.prompt_ids;
    Echo echo;
    echo.text = request.prompt ? *request.prompt : detokenized(runtime, model, ids, 0);
    if (!ids.empty()) echo.first_id = ids[0];
    const std::string raw = detokenized(runtime, model, ids, GAINZ_TEXT_RAW);
    if (raw.ends_with(echo.text)) echo.num_hidden_bytes = raw.size() - echo.text.size();
    out.push_back(std::move(echo));
  }
  return out;
}

}  // namespace

asio::awaitable<void> completions(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  const CompletionRequest request = read_completion_request(body, server.settings());
  std::shared_ptr<ServedModel> model = co_await server.model(request.model);
  Completion completion(server, exchange, model, request);
  if (request.echoes) {
    const auto prompts = std::make_shared<std::vector<Echo>>();
    std::function<void()> work = [prompts, &server, &request, model] {
      *prompts = echoes_of(server.runtime(), model->runtime_id(), request.prompts);
    };
    co_await server.off_thread(std::move(work));
    completion.echo(*prompts);
  }
  std::vector<GenerationRequest> requests;
  for (const GenerationRequest& prompt : request.prompts) {
    for (GenerationRequest& each : repeated(prompt, request.num_choices)) requests.push_back(std::move(each));
  }
  std::unique_ptr<Choices> choices = co_await Choices::start(server, exchange, model, std::move(requests));
  if (request.is_stream) {
    co_await stream_events(exchange, *choices, completion);
    co_return;
  }
  while (!choices->is_over()) {
    const std::optional<ChoiceEvent> event = co_await choices->next(kNoLimit);
    if (event) completion.take(*event);
  }
  if (choices->is_cancelled()) co_return;
  HttpResponse response;
  response.body = completion.body();
  co_await exchange.send(std::move(response));
}

}  // namespace gainz::host
