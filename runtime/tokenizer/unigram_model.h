// UnigramModel: SentencePiece's unigram language model ("t5" in tokenizer.ggml.model): of all ways to cut the text into pieces
// the one with the highest sum of scores, by Viterbi's algorithm. Steps: bytes of text times the longest piece at that place.
// Source: Kudo, "Subword Regularization"; SentencePiece's optimised encoder. Threads: any, once created. The Vocab must outlive
// it.
#pragma once

#include <memory>

#include "tokenizer/sentence_pieces.h"

namespace gainz {

class UnigramModel : public TextModel {
 public:
  // Errors: invalid or not_found naming tokenizer.ggml.scores, and those of SentencePieces.
  static Result<std::unique_ptr<TextModel>> create(const Gguf& file, const Vocab& vocab);

  Status encode(std::string_view text, bool starts, std::vector<int32_t>& out) const override;
  void append_bytes(int32_t id, std::string& out) const override { pieces_.append_bytes(id, out); }
  bool drops_first_blank() const override { return pieces_.normalizer().adds_blank(); }
  bool wants_user_pieces_cut() const override { return false; }

 private:
  explicit UnigramModel(SentencePieces pieces);

  SentencePieces pieces_;
  PieceMatcher matcher_;  // normal and user-defined pieces
  float max_score_ = 0.0f;
  float unknown_score_ = 0.0f;
};

}  // namespace gainz
