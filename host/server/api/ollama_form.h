// What Ollama's routes write, and their handlers. Thread: the network thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "server/exchange.h"
#include "server/server.h"

namespace gainz::host {

std::string rfc3339(std::chrono::system_clock::time_point time);  // "2026-12-01T10:00:00.000000Z"
std::string rfc3339_now();

// Whether the model's chat template can ask for reasoning or be told not to.
boost::asio::awaitable<bool> model_can_think(ServerContext& server, std::shared_ptr<ServedModel> model);

boost::asio::awaitable<void> ollama_generate(ServerContext& server, Exchange& exchange);
boost::asio::awaitable<void> ollama_chat(ServerContext& server, Exchange& exchange);
boost::asio::awaitable<void> ollama_embed(ServerContext& server, Exchange& exchange);
boost::asio::awaitable<void> ollama_embeddings(ServerContext& server, Exchange& exchange);

}  // namespace gainz::host
