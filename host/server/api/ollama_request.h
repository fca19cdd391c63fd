// Bodies of Ollama's routes as requests. Throws ApiError 400, 404. One thread.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <optional>
#include <string>

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
  std::optional<uint32_t> num_ctx;
  bool wants_thinking = false;  // refused if the model has none
};

OllamaRequest read_ollama_generate(const boost::json::object& body, const ServerContext& server);
OllamaRequest read_ollama_chat(const boost::json::object& body, const ServerContext& server);

// A model's id: Ollama's clients add ":latest".
std::string ollama_model_id(const ServerContext& server, const std::string& name);

}  // namespace gainz::host
