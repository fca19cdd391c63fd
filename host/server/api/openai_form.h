// What the OpenAI routes write: ids, usage, events. Pure functions; any thread.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "server/exchange.h"
#include "server/generation.h"
#include "server/server.h"

namespace gainz::host {

// Which code and arithmetic made an answer: the same seed gives the same text only where this is the same.
std::string system_fingerprint(const ServedModel& model);
int64_t unix_now();

// Token counts of one request: the prompt counts once, the answers of all choices together.
struct UsageCount {
  uint64_t prompt = 0, cached = 0, completion = 0, reasoning = 0, accepted_prediction = 0, rejected_prediction = 0;
  void add_prompt(const GenerationEvent& done);
  void add_answer(const GenerationEvent& done);
  boost::json::object json() const;
};

// "data: ...\n\n"
std::string sse(std::string_view json);
inline constexpr std::string_view kSseDone = "data: [DONE]\n\n";
inline constexpr std::string_view kSseKeepAlive = ": still at work\n\n";
inline constexpr std::chrono::milliseconds kKeepAlive{15'000};

HttpResponse json_response(const boost::json::value& value);

}  // namespace gainz::host
