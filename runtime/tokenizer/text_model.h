// TextModel: one way of turning a stretch of text into ids (byte-level BPE, SentencePiece BPE, Unigram, WordPiece).
//
// A stretch holds no control pieces: the Tokenizer has cut them out already. Threads: any, once created.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/vocab.h"

namespace gainz {

class TextModel {
 public:
  virtual ~TextModel() = default;

  // Appends the ids of `text`, which is not empty and may be any bytes. `starts` is true at the beginning of the whole text and
  // after a control piece. Errors: invalid (a byte that the vocabulary cannot spell), limit_exceeded.
  virtual Status encode(std::string_view text, bool starts, std::vector<int32_t>& out) const = 0;

  // Appends the bytes that a piece of any type but control and unknown stands for in the middle of a text. Allocates nothing
  // else, so that a stream of tokens costs no memory.
  virtual void append_bytes(int32_t id, std::string& out) const = 0;

  // Whether decoding drops one blank at the very beginning, because encoding put it there.
  virtual bool drops_first_blank() const { return false; }

  // Whether user-defined pieces are cut out of the raw text by the Tokenizer (false: the model finds them itself).
  virtual bool wants_user_pieces_cut() const { return true; }
};

}  // namespace gainz
