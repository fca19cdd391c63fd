// Texts to vectors: the inputs of the embedding routes and their generations. Thread: the network thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json.hpp>
#include <vector>

#include "server/api/json_fields.h"
#include "server/exchange.h"
#include "server/server.h"

namespace gainz::host {

inline constexpr size_t kMaxEmbeddingInputs = 2048;

// A text, a list of texts, a list of token ids or a list of such lists, as one request each.
std::vector<GenerationRequest> read_embedding_inputs(JsonFields& fields, std::string_view name);

struct Embedding {
  std::vector<float> values;
  uint32_t num_prompt_tokens = 0;
  std::vector<float> unit() const;  // of length 1, as clients expect
  boost::json::array json(bool is_unit) const;
};
// In the order of the requests; a few run at once. Throws ApiError, 400 if the model makes no embeddings.
boost::asio::awaitable<std::vector<Embedding>> embed(ServerContext& server, Exchange& exchange,
                                                     std::shared_ptr<ServedModel> model,
                                                     std::vector<GenerationRequest> requests);

}  // namespace gainz::host
