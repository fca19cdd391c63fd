// Tokenizer: text to token ids and back, by the vocabulary of a model file.
//
// Control pieces (markers such as <|im_end|>) come only from text that the caller trusts; in other text their spelling stays
// text. User-defined pieces are found in any text. What a piece is comes from the file's types, never from its spelling.
// Any bytes can be encoded; broken UTF-8 comes back as it was where the vocabulary has bytes. Time is linear in the text (times
// the logarithm of the longest word).
//
// Owner: shared; keeps the file alive. Threads: any, once created. A StreamDecoder: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf.h"

namespace gainz {

struct TextPiece {
  std::string_view text;
  bool parse_special = false;  // trusted: control pieces spelled in it become their ids
};

class Tokenizer {
 public:
  // Reads tokenizer.* keys only; tensors and architecture do not matter. Errors name the key: not_found, invalid, unsupported
  // (an unknown kind or pre-tokenizer), limit_exceeded (limits.h).
  static Result<std::shared_ptr<const Tokenizer>> create(std::shared_ptr<const Gguf> file);
  virtual ~Tokenizer();

  // The ids of the pieces' joined text: borders between pieces are no borders between tokens, but a control piece must be
  // spelled wholly inside trusted text. `add_special` puts what the file says at the beginning and the end. Errors:
  // limit_exceeded, invalid (a byte for which the vocabulary has neither a piece nor an unknown piece; it is never dropped).
  Result<std::vector<int32_t>> encode(std::span<const TextPiece> pieces, bool add_special) const;
  Result<std::vector<int32_t>> encode(std::string_view text, bool parse_special, bool add_special) const;

  // The text of ids: valid UTF-8, broken bytes as U+FFFD. A blank that encoding puts before the first word is taken off again.
  // `skip_special` leaves out control and unknown pieces, else they are spelled. Errors: invalid (id), limit_exceeded.
  Result<std::string> decode(std::span<const int32_t> ids, bool skip_special) const;
  // Each token's own bytes one after the other: a character may begin or end outside, no first blank is dropped.
  Result<std::string> decode_raw(std::span<const int32_t> ids, bool skip_special) const;

  // Raw bytes of one token in the middle of a text; special ones give their spelling, an id outside the vocabulary nothing.
  std::string token_bytes(int32_t id) const;
  void append_token_bytes(int32_t id, std::string& out) const;
  // As the file spells it; empty for an id outside the vocabulary. Lives as long as the Tokenizer.
  std::string_view token_text(int32_t id) const;

  int32_t vocab_size() const;
  std::optional<int32_t> bos() const;
  std::optional<int32_t> eos() const;
  std::optional<int32_t> unk() const;
  std::optional<int32_t> pad() const;
  bool adds_bos() const;
  bool adds_eos() const;
  bool is_special(int32_t id) const;  // control or unknown
  bool is_end_of_generation(int32_t id) const;
  const std::vector<int32_t>& end_ids() const;  // rising
  std::string_view kind() const;                // "gpt2", "llama", "t5" or "bert", as the file says

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  Status check_ids(std::span<const int32_t> ids) const;
  std::unique_ptr<const Parts> parts_;
};

// Turns ids into text as they come: only whole characters leave it.
class StreamDecoder {
 public:
  explicit StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special = true);

  std::string push(int32_t id);             // what can be shown now, perhaps nothing; valid UTF-8
  void push(int32_t id, std::string& out);  // the same appended; allocates only what `out` needs
  std::string finish();                     // the held tail, an unfinished character as U+FFFD; the decoder is then as new

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool skip_special_;
  std::string held_;  // the beginning of a character, at most 3 bytes between calls
};

}  // namespace gainz
