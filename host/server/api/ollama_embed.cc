// POST /api/embed, and the older /api/embeddings, whose vectors are not brought to length 1.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>

#include "config/schema.h"
#include "config/settings.h"
#include "server/api/body.h"
#include "server/api/embedding_request.h"
#include "server/api/ollama_form.h"
#include "server/api/ollama_options.h"
#include "server/api/ollama_request.h"
#include "server/api/openai_form.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using Clock = std::chrono::steady_clock;
constexpr size_t kMostPerByte = 11;  // tokens: what Unicode's NFKC can make of a byte; shorter texts need not be tokenized here
constexpr size_t kMostSpecial = 2;   // begin and end of text

int64_t nanoseconds(Clock::duration time) { return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count(); }

struct Read {
  std::string model;
  std::vector<GenerationRequest> inputs;
  std::optional<std::chrono::seconds> keep_alive;
  std::optional<uint32_t> num_ctx;
  bool is_cut = true;  // an input that does not fit loses its end
};

Read read(const json::object& body, const ServerContext& server, const char* input) {
  Read out;
  JsonFields fields(body);
  out.model = ollama_model_id(server, fields.required_text("model"));
  out.inputs = read_embedding_inputs(fields, input);
  out.keep_alive = read_keep_alive(fields);
  out.is_cut = fields.boolean("truncate").value_or(true);
  fields.refuse({"dimensions"}, "this model's embeddings are not cut");
  // Nothing is drawn, so of the options num_ctx alone has a meaning; the others must still be right.
  GenerationRequest unused;
  out.num_ctx = read_ollama_options(fields, unused);
  fields.finish();
  return out;
}

std::vector<int32_t> tokens_of(gainz_runtime* runtime, const ServedModel& model, const std::string& text, uint32_t flags) {
  int32_t* ids = nullptr;
  size_t num_ids = 0;
  char error[1024] = "";
  const gainz_code code =
      gainz_tokenize(runtime, model.runtime_id(), text.data(), text.size(), flags, &ids, &num_ids, error, sizeof error);
  if (code != GAINZ_OK) throw of_runtime(code, error, model.id());
  std::vector<int32_t> out(ids, ids + num_ids);
  gainz_free(runtime, ids);
  return out;
}

// Cuts an input to `limit` tokens, or refuses it. The end-of-text token that some models want stays the last one: their vector
// is that token's.
void cut(gainz_runtime* runtime, const ServedModel& model, size_t limit, bool is_cut, GenerationRequest& input) {
  std::vector<int32_t>& ids = input.prompt_ids;
  size_t num_last = 0;
  if (input.prompt) {
    std::vector<int32_t> whole = tokens_of(runtime, model, *input.prompt, GAINZ_TEXT_ADD_SPECIAL);
    if (whole.size() <= limit) return;
    const std::vector<int32_t> bare = tokens_of(runtime, model, *input.prompt, 0);
    num_last = whole.size() > bare.size() && !bare.empty() && whole.back() != bare.back() ? 1 : 0;
    ids = std::move(whole);
    input.prompt.reset();
  }
  if (ids.size() <= limit) return;
  if (!is_cut)
    throw bad_request("input",
                      fmt::format("an input has {} tokens, more than the limit of {}, and may not be cut", ids.size(), limit),
                      "context_length_exceeded");
  if (limit <= num_last) return;
  const std::vector<int32_t> last(ids.end() - static_cast<ptrdiff_t>(num_last), ids.end());
  ids.resize(limit - num_last);
  ids.insert(ids.end(), last.begin(), last.end());
}

asio::awaitable<void> cut_inputs(ServerContext& server, std::shared_ptr<ServedModel> model, Read& request) {
  check_num_ctx(request.num_ctx, *model);
  if (!request.is_cut && !request.num_ctx) co_return;  // the runtime refuses what does not fit
  size_t limit = std::min(request.num_ctx.value_or(model->info().context), model->info().context);
  const auto max_prompt = static_cast<size_t>(server.settings().integer(key("server.max_prompt_tokens")));
  if (max_prompt > 0) limit = std::min(limit, max_prompt);
  const auto inputs = std::make_shared<std::vector<GenerationRequest>>(std::move(request.inputs));
  std::function<void()> work = [inputs, model, limit, is_cut = request.is_cut, runtime = server.runtime()] {
    for (GenerationRequest& input : *inputs) {
      const size_t most = input.prompt ? input.prompt->size() * kMostPerByte + kMostSpecial : input.prompt_ids.size();
      if (most > limit) cut(runtime, *model, limit, is_cut, input);
    }
  };
  co_await server.off_thread(std::move(work));
  request.inputs = std::move(*inputs);
}

}  // namespace

asio::awaitable<void> ollama_embed(ServerContext& server, Exchange& exchange) {
  const Clock::time_point begin = Clock::now();
  const json::object body = co_await read_body(server, exchange);
  Read request = read(body, server, "input");
  std::shared_ptr<ServedModel> model = co_await server.model(request.model);
  const Clock::time_point loaded = Clock::now();
  co_await cut_inputs(server, model, request);
  const std::vector<Embedding> vectors = co_await embed(server, exchange, model, std::move(request.inputs));
  if (request.keep_alive) server.keep_alive(request.model, *request.keep_alive);
  json::array list;
  uint64_t num_tokens = 0;
  for (const Embedding& vector : vectors) {
    list.push_back(vector.json(true));
    num_tokens += vector.num_prompt_tokens;
  }
  HttpResponse response = json_response(json::object{{"model", model->id()},
                                                     {"embeddings", std::move(list)},
                                                     {"total_duration", nanoseconds(Clock::now() - begin)},
                                                     {"load_duration", nanoseconds(loaded - begin)},
                                                     {"prompt_eval_count", num_tokens}});
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> ollama_embeddings(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  Read request = read(body, server, "prompt");
  std::shared_ptr<ServedModel> model = co_await server.model(request.model);
  if (request.inputs.size() != 1)
    throw bad_request("prompt", "prompt must be one text; /api/embed takes several", "invalid_value");
  co_await cut_inputs(server, model, request);
  const std::vector<Embedding> vectors = co_await embed(server, exchange, model, std::move(request.inputs));
  if (request.keep_alive) server.keep_alive(request.model, *request.keep_alive);
  HttpResponse response = json_response(json::object{{"embedding", vectors[0].json(false)}});
  co_await exchange.send(std::move(response));
}

}  // namespace gainz::host
