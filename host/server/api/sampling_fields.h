// The sampling fields of the OpenAI routes and their extensions, into a GenerationRequest. Ranges are stated in docs/server.md.
// Throws ApiError 400. One thread.
#pragma once

#include "config/settings.h"
#include "server/api/json_fields.h"
#include "server/generation.h"

namespace gainz::host {

// temperature, top_p, top_k, min_p, typical_p, penalties, seed, stop, stop_token_ids, logit_bias, min_tokens, ignore_eos,
// cache_salt, priority, timeout_ms. Not: the numbers of tokens, choices and logprobs, which the routes name differently.
void read_sampling(JsonFields& fields, GenerationRequest& request);

// The server's own defaults ([sampling]), for the routes whose contract has none.
void set_default_sampling(const Settings& settings, GenerationRequest& request);

// "stop": a text or a list of texts, each one byte at least and without NUL.
void read_stop(JsonFields& fields, std::string_view name, GenerationRequest& request);

inline constexpr int64_t kMaxTokens32 = 2147483647;
inline constexpr size_t kMaxListItems = 4096;
inline constexpr double kMaxTemperature = 1e6;
inline constexpr double kMaxBias = 1e6;
inline constexpr double kMaxPenaltyValue = 100;  // presence and frequency, either sign
inline constexpr double kLeastRepetition = 0.001, kMostRepetition = 1000;

}  // namespace gainz::host
