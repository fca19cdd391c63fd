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

// Counts the characters that bytes are shown as, which come in pieces of any size: broken ones as the runtime repairs them,
// each maximal subpart as one U+FFFD. Source: The Unicode Standard, section 3.9 and table 3-7.
class CharacterCount {
 public:
  size_t next(std::string_view bytes) const;  // index of the character that the first of these bytes would be in
  void add(std::string_view bytes);

 private:
  bool continues(unsigned char byte) const { return num_missing_ > 0 && byte >= least_ && byte <= most_; }

  size_t num_begun_ = 0;
  int num_missing_ = 0;                       // bytes of the newest character
  unsigned char least_ = 0x80, most_ = 0xbf;  // of the next of them
};

// The four parallel arrays of OpenAI's completions. A token that is a part of a character is written "bytes:\xe4\xbd", as
// there. text_offset: where in the choice's text a token begins, in characters.
class LegacyLogprobs {
 public:
  // A prompt that the text begins with: its first token, which nothing predicts. num_hidden_bytes: of the prompt's tokens, at
  // the beginning, that the text does not show (begin-of-text, a vocabulary's leading blank).
  void begin(const TokenTexts& texts, int32_t first_id, size_t num_hidden_bytes);
  void add(const TokenTexts& texts, const GenerationEvent& event);
  boost::json::object take();  // what was added since the last time

 private:
  void add(const std::string& token, boost::json::value logprob, boost::json::value top);

  boost::json::array tokens_, logprobs_, top_, offsets_;
  CharacterCount count_;
  size_t num_hidden_bytes_ = 0;
};

}  // namespace gainz::host
