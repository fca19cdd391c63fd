// SentenceNormalizer: what SentencePiece does to text before it looks for pieces: the file's character map, blanks as U+2581,
// the blank put before the first word, runs of blanks made one. Linear time. Threads: any, once created. Source:
// SentencePiece's normalizer and the double-array trie (Darts-clone) in which it keeps the map.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf.h"
#include "tokenizer/piece_matcher.h"

namespace gainz {

inline constexpr std::string_view kBlankMark = "\xE2\x96\x81";  // U+2581

class SentenceNormalizer {
 public:
  // `kept` are spellings that the character map leaves alone. Errors name the key: invalid (a map that is cut short or no array
  // of bytes), limit_exceeded.
  static Result<SentenceNormalizer> create(const Gguf& file, PieceMatcher kept);

  bool adds_blank() const { return adds_blank_; }

  // Broken UTF-8 stays as it is.
  std::string normalize(std::string_view text, bool starts) const;

 private:
  struct Mapped {
    std::string_view text;  // what it becomes
    size_t num_bytes;       // how much of the input it stands for
  };
  Status read_map(const Gguf& file);
  Mapped next(std::string_view text) const;
  // Longest entry of the map that `text` begins with; false if none.
  bool look_up(std::string_view text, Mapped& out) const;

  PieceMatcher kept_;
  std::vector<uint32_t> trie_;
  std::string_view replacements_;  // NUL-terminated strings, in the file
  bool adds_blank_ = true;
  bool removes_extra_blanks_ = false;
};

}  // namespace gainz
