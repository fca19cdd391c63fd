// Fuzzes tokenizer metadata and what is then done with it: makes a tokenizer of the file in the input, encodes the tail of the
// input in every way and decodes what came of it, whole and as a stream. All text that comes out must be valid UTF-8.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

namespace {

constexpr size_t kMaxText = 256;

void check_text(std::string_view text) {
  if (!gainz::utf8::is_valid(text)) __builtin_trap();
}

void use_ids(const std::shared_ptr<const gainz::Tokenizer>& tokenizer, std::span<const int32_t> ids) {
  for (const bool skip_special : {false, true}) {
    const auto text = tokenizer->decode(ids, skip_special);
    if (!text.ok()) __builtin_trap();
    check_text(*text);
    gainz::StreamDecoder stream(tokenizer, skip_special);
    for (const int32_t id : ids) check_text(stream.push(id));
    check_text(stream.finish());
  }
  for (const int32_t id : ids) {
    if (id < 0 || id >= tokenizer->vocab_size()) __builtin_trap();
    tokenizer->token_bytes(id);
    tokenizer->is_end_of_generation(id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data), reinterpret_cast<const std::byte*>(data) + size);
  const auto gguf = gainz::Gguf::parse(copy, {.use_mmap = true, .metadata_only = true});
  if (!gguf.ok()) return 0;
  const auto tokenizer = gainz::Tokenizer::create(*gguf);
  if (!tokenizer.ok()) {
    if (tokenizer.status().message().empty()) __builtin_trap();
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view tail = bytes.substr(size - std::min(size, kMaxText));
  std::string texts[] = {std::string(tail), "Hello  w\xC3\xB6rld, it's 2026!\n\n \xF0\x9F\xA6\x9C <0x0A>", ""};
  for (int32_t id = 0; id < std::min((*tokenizer)->vocab_size(), 64); ++id) texts[2] += (*tokenizer)->token_text(id);
  for (const std::string& text : texts) {
    for (const bool trusted : {false, true}) {
      const auto ids = (*tokenizer)->encode(text, trusted, true);
      if (ids.ok()) use_ids(*tokenizer, *ids);
    }
    const gainz::TextPiece halves[] = {{std::string_view(text).substr(0, text.size() / 2), true},
                                       {std::string_view(text).substr(text.size() / 2), false}};
    if (const auto ids = (*tokenizer)->encode(halves, false); ids.ok()) use_ids(*tokenizer, *ids);
  }
  return 0;
}
