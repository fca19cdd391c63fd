#include "server/api/token_text.h"

#include "base/text.h"
#include "server/api/json_fields.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

// JSON has no minus infinity; OpenAI writes -9999 for what cannot be chosen.
double finite(float logprob) {
  constexpr double kImpossible = -9999;
  return logprob > kImpossible ? shortest(logprob) : kImpossible;
}

}  // namespace

std::string TokenTexts::bytes(int32_t id) const {
  char* text = nullptr;
  size_t num_bytes = 0;
  if (gainz_detokenize(server_.runtime(), model_.runtime_id(), &id, 1, GAINZ_TEXT_RAW, &text, &num_bytes, nullptr, 0) !=
      GAINZ_OK)
    return "";
  std::string out(text, num_bytes);
  gainz_free(server_.runtime(), text);
  return out;
}

json::object TokenTexts::entry(int32_t id, float logprob) const {
  const std::string text = bytes(id);
  json::array raw;
  for (const char c : text) raw.push_back(static_cast<unsigned char>(c));
  return {{"token", valid_utf8(text)}, {"logprob", finite(logprob)}, {"bytes", std::move(raw)}};
}

json::object TokenTexts::entry(const GenerationEvent& event) const {
  json::object out = entry(event.id, event.logprob);
  json::array top;
  for (const gainz_token_logprob& other : event.top) top.push_back(entry(other.id, other.logprob));
  out["top_logprobs"] = std::move(top);
  return out;
}

void LegacyLogprobs::add_first(const std::string& text) {
  tokens_.push_back(json::string(valid_utf8(text)));
  logprobs_.push_back(nullptr);
  top_.push_back(nullptr);
  offsets_.push_back(offset_);
  offset_ += text.size();
}

void LegacyLogprobs::add(const TokenTexts& texts, const GenerationEvent& event) {
  const std::string text = texts.bytes(event.id);
  json::object top;
  for (const gainz_token_logprob& other : event.top) top[valid_utf8(texts.bytes(other.id))] = finite(other.logprob);
  tokens_.push_back(json::string(valid_utf8(text)));
  logprobs_.push_back(finite(event.logprob));
  top_.push_back(std::move(top));
  offsets_.push_back(offset_);
  offset_ += text.size();
}

json::object LegacyLogprobs::take() {
  return {{"tokens", std::exchange(tokens_, {})},
          {"token_logprobs", std::exchange(logprobs_, {})},
          {"top_logprobs", std::exchange(top_, {})},
          {"text_offset", std::exchange(offsets_, {})}};
}

}  // namespace gainz::host
