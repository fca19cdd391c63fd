// What the bodies of Ollama's routes share: "options" and "keep_alive". Throws ApiError 400. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "server/api/json_fields.h"
#include "server/generation.h"
#include "server/server.h"

namespace gainz::host {

// Into the request's sampling; answers options.num_ctx. repeat_last_n 0 turns the penalties off; a window of tokens is refused
// where a penalty would look at it.
std::optional<uint32_t> read_ollama_options(JsonFields& body, GenerationRequest& request);

// num_ctx is at most the context that the model is served with.
void check_num_ctx(std::optional<uint32_t> num_ctx, const ServedModel& model);

// Seconds as a number, or a time in Go's words: "5m", "1h30m", "-1s". Negative: for ever.
std::optional<std::chrono::seconds> read_keep_alive(JsonFields& fields);
std::optional<double> go_duration_seconds(std::string_view text);

}  // namespace gainz::host
