// WordPieceModel: BERT's tokenizer ("bert" in tokenizer.ggml.model): clean, put blanks around Chinese characters, take accents
// off, lower the case, cut at blanks and punctuation, then take the longest piece again and again.
//
// Pieces are spelled either as BERT does ("##" before a continuation) or as converters write them (U+2581 before a beginning).
// Source: BERT's reference tokenizer and the normalizer of the published tokenizer definitions. Threads: any, once created.
#pragma once

#include <memory>

#include "tokenizer/piece_matcher.h"
#include "tokenizer/text_model.h"

namespace gainz {

class WordPieceModel : public TextModel {
 public:
  // Errors: invalid if the vocabulary has no unknown piece.
  static Result<std::unique_ptr<TextModel>> create(const Gguf& file, const Vocab& vocab);

  Status encode(std::string_view text, bool starts, std::vector<int32_t>& out) const override;
  void append_bytes(int32_t id, std::string& out) const override;
  bool drops_first_blank() const override { return true; }

 private:
  explicit WordPieceModel(const Vocab& vocab);
  Status read_normalizer(const Gguf& file);
  void index_pieces();
  // Blanks removed; each word is text without blanks.
  std::vector<std::string> words_of(std::string_view text) const;
  void encode_word(std::string_view word, std::vector<int32_t>& out) const;

  const Vocab& vocab_;
  PieceMatcher beginnings_, continuations_;
  int32_t unknown_ = -1;
  bool marks_beginnings_ = false;  // U+2581 form
  bool lowers_case_ = true;
  bool strips_accents_ = true;
};

}  // namespace gainz
