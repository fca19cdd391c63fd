// The table of OpenAI's routes, and the models.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "server/api/json_fields.h"
#include "server/api/openai_handlers.h"
#include "server/route.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kModelsPath = "/v1/models/";

json::object model_object(const ModelState& state) {
  return {{"id", state.id}, {"object", "model"}, {"created", state.model ? state.model->created() : 0}, {"owned_by", "gainz"}};
}

constexpr Route kRoutes[] = {
    {"POST", "/v1/chat/completions", chat_completions, ErrorForm::openai, true, "Answer a chat"},
    {"POST", "/v1/completions", completions, ErrorForm::openai, true, "Continue a text"},
    {"POST", "/v1/embeddings", embeddings, ErrorForm::openai, true, "Texts as vectors"},
    {"GET", "/v1/models", list_models, ErrorForm::openai, true, "List the models"},
    {"GET", "/v1/models/{*}", show_model, ErrorForm::openai, true, "One model"},
};

}  // namespace

boost::asio::awaitable<void> list_models(ServerContext& server, Exchange& exchange) {
  json::array data;
  for (const ModelState& state : server.models()) data.push_back(model_object(state));
  HttpResponse response = json_response(json::object{{"object", "list"}, {"data", std::move(data)}});
  co_await exchange.send(std::move(response));
}

boost::asio::awaitable<void> show_model(ServerContext& server, Exchange& exchange) {
  const std::string id = exchange.request().path.substr(kModelsPath.size());
  for (const ModelState& state : server.models()) {
    if (state.id != id) continue;
    HttpResponse response = json_response(model_object(state));
    co_await exchange.send(std::move(response));
    co_return;
  }
  throw not_found(fmt::format("The model `{}` does not exist", shown_name(id)), "model_not_found");
}

std::span<const Route> openai_routes() { return kRoutes; }

}  // namespace gainz::host
