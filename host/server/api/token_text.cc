#include "server/api/token_text.h"

#include <fmt/format.h>

#include <algorithm>

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

// A token's text, or "bytes:\\xe4\\xbd" if it is no text.
std::string legacy_name(const std::string& bytes) {
  if (valid_utf8(bytes) == bytes) return bytes;
  std::string out = "bytes:";
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
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

void CharacterCount::add(std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (continues(byte)) {
      --num_missing_;
      least_ = 0x80, most_ = 0xbf;
      continue;
    }
    ++num_begun_;
    num_missing_ = byte >= 0xf0 && byte <= 0xf4 ? 3 : byte >= 0xe0 && byte <= 0xef ? 2 : byte >= 0xc2 && byte <= 0xdf ? 1 : 0;
    least_ = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
    most_ = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
  }
}

size_t CharacterCount::next(std::string_view bytes) const {
  return !bytes.empty() && continues(static_cast<unsigned char>(bytes[0])) ? num_begun_ - 1 : num_begun_;
}

void LegacyLogprobs::begin(const TokenTexts& texts, int32_t first_id, size_t num_hidden_bytes) {
  num_hidden_bytes_ = num_hidden_bytes;
  add(texts.bytes(first_id), nullptr, nullptr);
}

void LegacyLogprobs::add(const TokenTexts& texts, const GenerationEvent& event) {
  json::object top;  // best first; of two that are written alike the better one stays
  for (const gainz_token_logprob& other : event.top) top.emplace(legacy_name(texts.bytes(other.id)), finite(other.logprob));
  add(texts.bytes(event.id), finite(event.logprob), std::move(top));
}

void LegacyLogprobs::add(const std::string& token, json::value logprob, json::value top) {
  tokens_.push_back(json::string(legacy_name(token)));
  logprobs_.push_back(std::move(logprob));
  top_.push_back(std::move(top));
  std::string_view shown = token;
  const size_t num_hidden = std::min(num_hidden_bytes_, shown.size());
  num_hidden_bytes_ -= num_hidden;
  shown.remove_prefix(num_hidden);
  offsets_.push_back(count_.next(shown));
  count_.add(shown);
}

json::object LegacyLogprobs::take() {
  return {{"tokens", std::exchange(tokens_, {})},
          {"token_logprobs", std::exchange(logprobs_, {})},
          {"top_logprobs", std::exchange(top_, {})},
          {"text_offset", std::exchange(offsets_, {})}};
}

}  // namespace gainz::host
