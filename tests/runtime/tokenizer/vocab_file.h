// VocabFile: small vocabularies made in a test, and the tokenizer of such a file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/gguf_writer.h"
#include "tokenizer/tokenizer.h"

namespace gainz::test {

struct VocabPiece {
  std::string text;
  int32_t type = 1;  // 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte
  float score = 0.0f;
};

// All keys of a well-formed file, to be changed by the test.
GgufWriter vocab_file(const std::string& model, const std::vector<VocabPiece>& pieces,
                      const std::vector<std::string>& merges = {});

// <unk>, <s>, </s> (control), the 256 byte pieces, then `more`: a SentencePiece vocabulary. Ids of `more` begin at 259.
std::vector<VocabPiece> sentence_pieces(const std::vector<VocabPiece>& more);
// The 256 characters of the byte alphabet (ids are the bytes), then `more`.
std::vector<VocabPiece> byte_level_pieces(const std::vector<VocabPiece>& more);

// The file's bytes live as long as the result.
Result<std::shared_ptr<const Tokenizer>> make_tokenizer(const GgufWriter& file);
// A failed test and nullptr where the file is refused.
std::shared_ptr<const Tokenizer> must_make(const GgufWriter& file);

}  // namespace gainz::test
