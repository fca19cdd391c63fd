#include "server/core/submission.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/api_error.h"
#include "session/runtime_config.h"

namespace gainz::host {
namespace {

const char* or_null(const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; }

// Tokens of the prompt, control tokens of the chat's text counted as the template writes them. 0: it could not be told, and
// gainz_submit says why.
size_t num_prompt_tokens(gainz_runtime* runtime, gainz_model_id model, const GenerationRequest& request) {
  if (!request.prompt && !request.messages_json) return request.prompt_ids.size();
  char* rendered = nullptr;
  std::string_view text;
  if (request.messages_json) {
    size_t num_bytes = 0;
    if (gainz_apply_template(runtime, model, request.messages_json->c_str(), or_null(request.tools_json),
                             or_null(request.vars_json), 1, &rendered, &num_bytes, nullptr, 0) != GAINZ_OK)
      return 0;
    text = {rendered, num_bytes};
  } else {
    text = *request.prompt;
  }
  int32_t* ids = nullptr;
  size_t num_ids = 0;
  const bool is_plain = (request.flags & GAINZ_REQUEST_PARSE_SPECIAL) == 0 && !request.messages_json;
  const uint32_t flags = (is_plain ? 0 : GAINZ_TEXT_PARSE_SPECIAL) |
                         ((request.flags & GAINZ_REQUEST_NO_BOS) != 0 || request.messages_json ? 0 : GAINZ_TEXT_ADD_SPECIAL);
  const gainz_code code = gainz_tokenize(runtime, model, text.data(), text.size(), flags, &ids, &num_ids, nullptr, 0);
  gainz_free(runtime, rendered);
  if (code != GAINZ_OK) return 0;
  gainz_free(runtime, ids);
  return num_ids;
}

}  // namespace

void apply_limits(const Settings& settings, GenerationRequest& request) {
  const int64_t max_output = settings.integer(key("server.max_output_tokens"));
  int32_t& max_tokens = request.sampling.max_tokens;
  if (max_output > 0 && max_tokens > max_output) {
    throw bad_request("max_tokens",
                      fmt::format("max_tokens is {}, more than the limit of {} of this server", max_tokens, max_output));
  }
  if (max_output > 0 && max_tokens < 0) max_tokens = static_cast<int32_t>(max_output);
  const auto max_stops = static_cast<size_t>(settings.integer(key("server.max_stops")));
  if (request.stop.size() > max_stops)
    throw bad_request("stop", fmt::format("stop has {} texts, more than the limit of {}", request.stop.size(), max_stops));
  if (request.stop_token_ids.size() > max_stops) {
    throw bad_request("stop_token_ids", fmt::format("stop_token_ids has {} items, more than the limit of {}",
                                                    request.stop_token_ids.size(), max_stops));
  }
  const int64_t max_priority = settings.integer(key("server.max_priority"));
  if (request.priority > max_priority) {
    throw bad_request("priority", fmt::format("priority is {}, higher than the limit of {}", request.priority, max_priority));
  }
  const auto max_ms = static_cast<uint32_t>(settings.integer(key("server.request_seconds")) * 1000);
  request.timeout_ms = request.timeout_ms == 0 ? max_ms : std::min(request.timeout_ms, max_ms);
}

Submitted submit(gainz_runtime* runtime, gainz_model_id model, uint64_t handle, size_t max_prompt_tokens,
                 GenerationRequest& request) {
  Submitted out;
  if (max_prompt_tokens > 0) {
    const size_t num_tokens = num_prompt_tokens(runtime, model, request);
    if (num_tokens > max_prompt_tokens) {
      out.code = GAINZ_LIMIT_EXCEEDED;
      out.error =
          fmt::format("the prompt has {} tokens, more than the limit of {} of this server", num_tokens, max_prompt_tokens);
      return out;
    }
  }
  gainz_request_config config;
  gainz_request_config_init(&config);
  config.kind = request.kind;
  config.model = model;
  config.flags = request.flags;
  config.priority = request.priority;
  config.user = reinterpret_cast<void*>(static_cast<uintptr_t>(handle));
  if (request.prompt) {
    config.prompt = request.prompt->data();
    config.prompt_bytes = request.prompt->size();
  } else if (request.messages_json) {
    config.messages_json = request.messages_json->c_str();
  } else {
    config.prompt_ids = request.prompt_ids.data();
    config.num_prompt_ids = request.prompt_ids.size();
  }
  config.tools_json = or_null(request.tools_json);
  config.vars_json = or_null(request.vars_json);
  config.cache_salt = request.cache_salt.c_str();
  std::vector<const char*> stops;
  for (const std::string& stop : request.stop) stops.push_back(stop.c_str());
  config.sampling = request.sampling;
  config.sampling.logit_bias = request.logit_bias.data();
  config.sampling.num_logit_bias = request.logit_bias.size();
  config.sampling.stop = stops.data();
  config.sampling.num_stop = stops.size();
  config.sampling.stop_token_ids = request.stop_token_ids.data();
  config.sampling.num_stop_token_ids = request.stop_token_ids.size();
  config.prompt_logprobs = request.prompt_logprobs;
  config.pooling = request.pooling;
  config.timeout_ms = request.timeout_ms;
  config.speculation = request.speculation;
  if (request.prediction) {
    config.prediction = request.prediction->data();
    config.prediction_bytes = request.prediction->size();
  }
  char error[kErrorBytes] = "";
  out.code = gainz_submit(runtime, &config, &out.request, error, sizeof error);
  out.error = error;
  return out;
}

}  // namespace gainz::host
