// SentencePieces: what the two SentencePiece models share: the normalizer, the user-defined pieces in normalized spelling, and
// how a stretch without a piece is written (byte pieces, else the unknown piece, once for a run of them).
// Threads: any, once created. The Vocab must outlive it.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "tokenizer/sentence_normalizer.h"
#include "tokenizer/text_model.h"

namespace gainz {

class SentencePieces {
 public:
  static Result<SentencePieces> create(const Gguf& file, const Vocab& vocab);

  const SentenceNormalizer& normalizer() const { return normalizer_; }
  const PieceMatcher& user_pieces() const { return user_pieces_; }
  const Vocab& vocab() const { return *vocab_; }

  // Ids of one character (or broken part) that is no piece. `after_unknown` says whether the one before was written as unknown,
  // and is updated. Errors: invalid if the vocabulary has neither byte pieces nor an unknown piece.
  Status spell(std::string_view character, bool& after_unknown, std::vector<int32_t>& out) const;

  void append_bytes(int32_t id, std::string& out) const;

 private:
  const Vocab* vocab_ = nullptr;
  SentenceNormalizer normalizer_;
  std::deque<std::string> spellings_;  // of user-defined pieces that hold blanks
  PieceMatcher user_pieces_;
  int32_t unknown_ = -1;
};

}  // namespace gainz
