// The body of /v1/chat/completions as a request, for the server and for `gainz batch`. Throws ApiError 400. One thread.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "config/settings.h"
#include "server/generation.h"

namespace gainz::host {

struct ChatRequest {
  std::string model;  // "": the only or first one
  GenerationRequest generation;
  size_t num_choices = 1;
  bool is_stream = false;
  bool wants_usage = false;  // stream_options.include_usage
};
ChatRequest read_chat_request(const boost::json::object& body, const Settings& settings);

struct CompletionRequest {
  std::string model;
  std::vector<GenerationRequest> prompts;  // in their order; the choices of one follow each other
  size_t num_choices = 1;                  // of each prompt
  bool is_stream = false;
  bool wants_usage = false;
  bool echoes = false;
};
CompletionRequest read_completion_request(const boost::json::object& body, const Settings& settings);

class JsonFields;
// "stream" and "stream_options".
void read_stream(JsonFields& fields, bool& is_stream, bool& wants_usage);
// A list of token ids, or of what `name` says; throws if it is not.
std::vector<int32_t> read_ids(const boost::json::array& ids, const std::string& name);

}  // namespace gainz::host
