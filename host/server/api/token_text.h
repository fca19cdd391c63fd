// Tokens as text for log-probabilities: each token's own bytes, which may be a part of a character. One thread.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "server/generation.h"
#include "server/server.h"

namespace gainz::host {

class TokenTexts {
 public:
  // Both must outlive it.
  TokenTexts(ServerContext& server, const ServedModel& model) : server_(server), model_(model) {}

  std::string bytes(int32_t id) const;  // "" for an id the model does not have
  // {"token","logprob","bytes"} of OpenAI's chat routes.
  boost::json::object entry(int32_t id, float logprob) const;
  // The same with "top_logprobs", of one TOKEN or PROMPT_LOGPROB event.
  boost::json::object entry(const GenerationEvent& event) const;

 private:
  ServerContext& server_;
  const ServedModel& model_;
};

// The four parallel arrays of OpenAI's completions.
class LegacyLogprobs {
 public:
  void add(const TokenTexts& texts, const GenerationEvent& event);
  void add_first(const std::string& text);  // a prompt's first token, which nothing predicts
  boost::json::object take();               // what was added since the last time
  bool is_empty() const { return tokens_.empty(); }

 private:
  boost::json::array tokens_, logprobs_, top_, offsets_;
  size_t offset_ = 0;
};

}  // namespace gainz::host
