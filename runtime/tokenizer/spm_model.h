// SpmModel: SentencePiece's byte-pair encoding, by the scores of the pieces ("llama" in tokenizer.ggml.model).
//
// Of all neighbours that together are a piece, those with the highest score are joined first, the leftmost of equals. n log n
// steps. User-defined pieces are found first (longest match) and never joined. Pieces of type unused are taken apart again.
// Source: Kudo and Richardson, "SentencePiece"; its BPE encoder. Threads: any, once created. The Vocab must outlive it.
#pragma once

#include <memory>

#include "tokenizer/sentence_pieces.h"

namespace gainz {

class SpmModel : public TextModel {
 public:
  // Errors: invalid or not_found naming tokenizer.ggml.scores, and those of SentencePieces.
  static Result<std::unique_ptr<TextModel>> create(const Gguf& file, const Vocab& vocab);

  Status encode(std::string_view text, bool starts, std::vector<int32_t>& out) const override;
  void append_bytes(int32_t id, std::string& out) const override { pieces_.append_bytes(id, out); }
  bool drops_first_blank() const override { return pieces_.normalizer().adds_blank(); }
  bool wants_user_pieces_cut() const override { return false; }

 private:
  class Joiner;
  explicit SpmModel(SentencePieces pieces);

  SentencePieces pieces_;
  size_t max_piece_bytes_ = 0;
};

}  // namespace gainz
