#include "runtime/tokenizer/vocab_file.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tokenizer/byte_level.h"

namespace gainz::test {

GgufWriter vocab_file(const std::string& model, const std::vector<VocabPiece>& pieces, const std::vector<std::string>& merges) {
  std::vector<std::string> texts;
  std::vector<int32_t> types;
  std::vector<float> scores;
  for (const VocabPiece& piece : pieces) {
    texts.push_back(piece.text);
    types.push_back(piece.type);
    scores.push_back(piece.score);
  }
  GgufWriter file;
  file.string("tokenizer.ggml.model", model).strings("tokenizer.ggml.tokens", texts).array("tokenizer.ggml.token_type", types);
  if (model == "gpt2") file.string("tokenizer.ggml.pre", "gpt-2").strings("tokenizer.ggml.merges", merges);
  if (model == "llama" || model == "t5") file.array("tokenizer.ggml.scores", scores);
  return file;
}

std::vector<VocabPiece> sentence_pieces(const std::vector<VocabPiece>& more) {
  std::vector<VocabPiece> pieces = {{"<unk>", 2}, {"<s>", 3}, {"</s>", 3}};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    pieces.push_back({text, 6});
  }
  pieces.insert(pieces.end(), more.begin(), more.end());
  return pieces;
}

std::vector<VocabPiece> byte_level_pieces(const std::vector<VocabPiece>& more) {
  std::vector<VocabPiece> pieces;
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    pieces.push_back({byte_level::spell({&c, 1})});
  }
  pieces.insert(pieces.end(), more.begin(), more.end());
  return pieces;
}

Result<std::shared_ptr<const Tokenizer>> make_tokenizer(const GgufWriter& file) {
  struct Held {
    Bytes bytes;
    std::shared_ptr<const Tokenizer> tokenizer;
  };
  auto held = std::make_shared<Held>();
  held->bytes = file.bytes();
  GAINZ_ASSIGN(std::shared_ptr<const Gguf> gguf, Gguf::parse(held->bytes, {.use_mmap = false, .metadata_only = true}));
  GAINZ_ASSIGN(held->tokenizer, Tokenizer::create(gguf));
  const Tokenizer* tokenizer = held->tokenizer.get();
  return std::shared_ptr<const Tokenizer>(held, tokenizer);
}

std::shared_ptr<const Tokenizer> must_make(const GgufWriter& file) {
  auto tokenizer = make_tokenizer(file);
  if (tokenizer.ok()) return *tokenizer;
  ADD_FAILURE() << tokenizer.status().message();
  return nullptr;
}

}  // namespace gainz::test
