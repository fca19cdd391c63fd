// Bodies of Ollama's routes as requests. Throws ApiError 400, 404. One thread.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "server/api/json_fields.h"
#include "server/generation.h"
#include "server/server.h"

namespace gainz::host {

struct OllamaRequest {
  std::string model;
  GenerationRequest generation;
  bool is_stream = true;
  bool is_chat = false;
  bool has_prompt = false;                         // else: load or unload the model
  std::optional<std::chrono::seconds> keep_alive;  // negative: for ever
  std::optional<uint32_t> context;                 // options.num_ctx, at most the model's
};

OllamaRequest read_ollama_generate(const boost::json::object& body, const ServerContext& server);
OllamaRequest read_ollama_chat(const boost::json::object& body, const ServerContext& server);

// "5m", "-1", "300s", 0: seconds; negative: for ever.
std::optional<std::chrono::seconds> read_keep_alive(JsonFields& fields);
// A model's id: Ollama's clients add ":latest".
std::string ollama_model_id(const ServerContext& server, const std::string& name);

}  // namespace gainz::host
