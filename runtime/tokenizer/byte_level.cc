#include "tokenizer/byte_level.h"

#include <array>

#include "tokenizer/utf8.h"

namespace gainz::byte_level {

namespace {

constexpr uint32_t kShifted = 256;  // bytes that are not printable are numbered from here on
constexpr uint32_t kNumCharacters = 324;

constexpr bool stands_for_itself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, kNumCharacters> byte{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (int16_t& b : alphabet.byte) b = -1;
  uint32_t next = kShifted;
  for (uint32_t b = 0; b < 256; ++b) {
    const uint32_t c = stands_for_itself(b) ? b : next++;
    alphabet.character[b] = static_cast<uint16_t>(c);
    alphabet.byte[c] = static_cast<int16_t>(b);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

uint32_t character_of(uint8_t byte) { return kAlphabet.character[byte]; }

std::optional<uint8_t> byte_of(uint32_t code_point) {
  if (code_point >= kNumCharacters || kAlphabet.byte[code_point] < 0) return std::nullopt;
  return static_cast<uint8_t>(kAlphabet.byte[code_point]);
}

std::string spell(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) utf8::append(out, character_of(static_cast<uint8_t>(c)));
  return out;
}

void append_unspelled(std::string_view text, std::string& out) {
  const size_t before = out.size();
  for (std::string_view rest = text; !rest.empty();) {
    const utf8::Step step = utf8::decode(rest);
    const std::optional<uint8_t> byte = step.valid ? byte_of(step.code_point) : std::nullopt;
    if (!byte) {
      out.replace(before, std::string::npos, text);
      return;
    }
    out += static_cast<char>(*byte);
    rest.remove_prefix(step.num_bytes);
  }
}

}  // namespace gainz::byte_level
