// POST /api/embed, and the older /api/embeddings, whose vectors are not brought to length 1.
#include <boost/asio/awaitable.hpp>

#include "server/api/body.h"
#include "server/api/embedding_request.h"
#include "server/api/ollama_form.h"
#include "server/api/ollama_request.h"
#include "server/api/openai_form.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using Clock = std::chrono::steady_clock;

int64_t nanoseconds(Clock::duration time) { return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count(); }

struct Read {
  std::string model;
  std::vector<GenerationRequest> inputs;
  std::optional<std::chrono::seconds> keep_alive;
};

Read read(const json::object& body, const ServerContext& server, const char* input) {
  Read out;
  JsonFields fields(body);
  out.model = ollama_model_id(server, fields.required_text("model"));
  out.inputs = read_embedding_inputs(fields, input);
  out.keep_alive = read_keep_alive(fields);
  if (fields.boolean("truncate").value_or(false))
    throw bad_request("truncate", "truncate is not supported: an input that does not fit the context is refused",
                      "unsupported_parameter");
  fields.refuse({"dimensions"}, "this model's embeddings are not cut");
  if (const json::object* options = fields.object("options")) JsonFields(*options, "options").finish();
  fields.finish();
  return out;
}

}  // namespace

asio::awaitable<void> ollama_embed(ServerContext& server, Exchange& exchange) {
  const Clock::time_point begin = Clock::now();
  const json::object body = co_await read_body(server, exchange);
  Read request = read(body, server, "input");
  std::shared_ptr<ServedModel> model = co_await server.model(request.model);
  const Clock::time_point loaded = Clock::now();
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
  const std::vector<Embedding> vectors = co_await embed(server, exchange, model, std::move(request.inputs));
  if (request.keep_alive) server.keep_alive(request.model, *request.keep_alive);
  HttpResponse response = json_response(json::object{{"embedding", vectors[0].json(false)}});
  co_await exchange.send(std::move(response));
}

}  // namespace gainz::host
