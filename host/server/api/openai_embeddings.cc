// POST /v1/embeddings.
#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>
#include <cstring>

#include "server/api/body.h"
#include "server/api/embedding_request.h"
#include "server/api/openai_handlers.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

// RFC 4648, of little-endian float32.
std::string base64(const std::vector<float>& values) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= count ? kLetters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

struct EmbeddingRequest {
  std::string model;
  std::vector<GenerationRequest> inputs;
  bool is_base64 = false;
  std::optional<int64_t> dimensions;
};

EmbeddingRequest read_embedding_request(const json::object& body) {
  EmbeddingRequest out;
  JsonFields fields(body);
  out.model = fields.text("model").value_or("");
  out.inputs = read_embedding_inputs(fields, "input");
  out.is_base64 = fields.choice("encoding_format", {"float", "base64"}).value_or("float") == "base64";
  out.dimensions = fields.integer("dimensions", 1, 1 << 24);
  const bool is_last = fields.choice("pooling", {"mean", "last"}).value_or("mean") == "last";
  for (GenerationRequest& input : out.inputs) input.pooling = is_last ? GAINZ_POOLING_LAST : GAINZ_POOLING_MEAN;
  fields.accept({"user"});
  fields.finish();
  return out;
}

}  // namespace

asio::awaitable<void> embeddings(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  EmbeddingRequest request = read_embedding_request(body);
  std::shared_ptr<ServedModel> model = co_await server.model(request.model);
  const int64_t length = model->info().embedding_length;
  if (request.dimensions && *request.dimensions != length) {
    throw bad_request(
        "dimensions",
        fmt::format("dimensions is {}: this model's embeddings have {} and are not cut", *request.dimensions, length),
        "unsupported_value");
  }
  const std::vector<Embedding> vectors = co_await embed(server, exchange, model, std::move(request.inputs));
  json::array data;
  uint64_t num_tokens = 0;
  for (size_t i = 0; i < vectors.size(); ++i) {
    num_tokens += vectors[i].num_prompt_tokens;
    json::object item{{"object", "embedding"}, {"index", i}};
    if (request.is_base64) {
      item["embedding"] = base64(vectors[i].unit());
    } else {
      item["embedding"] = vectors[i].json(true);
    }
    data.push_back(std::move(item));
  }
  HttpResponse response = json_response(json::object{{"object", "list"},
                                                     {"data", std::move(data)},
                                                     {"model", model->id()},
                                                     {"usage", {{"prompt_tokens", num_tokens}, {"total_tokens", num_tokens}}}});
  co_await exchange.send(std::move(response));
}

}  // namespace gainz::host
