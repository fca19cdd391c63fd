// Vocab: the pieces of a model file, checked once: spelling, type and score of each id, and the id of a spelling.
//
// Reads tokenizer.ggml.tokens, .token_type and .scores. What a piece is comes from its type, never from its spelling.
// Spellings are views into the file, which the Vocab keeps alive. Threads: any, once created.
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

enum class PieceType : uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

class Vocab {
 public:
  // Errors name the key: invalid (no tokens, duplicate or broken spellings, lengths that differ, array types, byte pieces that
  // are not <0xHH>), limit_exceeded.
  static Result<Vocab> create(std::shared_ptr<const Gguf> file);

  int32_t size() const { return static_cast<int32_t>(texts_.size()); }
  bool contains(int32_t id) const { return id >= 0 && id < size(); }
  std::string_view text(int32_t id) const { return texts_[static_cast<size_t>(id)]; }
  PieceType type(int32_t id) const { return static_cast<PieceType>(types_[static_cast<size_t>(id)]); }
  float score(int32_t id) const { return scores_.empty() ? 0.0f : scores_[static_cast<size_t>(id)]; }
  bool has_scores() const { return !scores_.empty(); }
  bool has_types() const { return has_types_; }

  // The id of a spelling, whatever its type; -1 if there is none.
  int32_t find(std::string_view text) const;
  // The id of a spelling that text may become by itself: normal, user-defined or unused pieces; else -1.
  int32_t find_text(std::string_view text) const;
  // The byte piece (type byte) of a byte; -1 if there is none.
  int32_t byte_piece(uint8_t byte) const { return byte_pieces_[byte]; }
  bool has_byte_pieces() const { return has_byte_pieces_; }
  uint8_t byte_value(int32_t id) const;  // REQUIRES: type(id) is byte

  // Only while the tokenizer is made: a file without types tells its control pieces by its special-token keys.
  void mark_control(int32_t id) { types_[static_cast<size_t>(id)] = static_cast<uint8_t>(PieceType::control); }

 private:
  Status read_types(const Gguf& file);
  Status read_scores(const Gguf& file);
  Status check_texts();
  Status index_texts();
  Status index_bytes();

  std::shared_ptr<const Gguf> file_;
  std::span<const std::string_view> texts_;  // [vocab_size], in the file
  std::vector<uint8_t> types_;               // [vocab_size]
  std::vector<float> scores_;                // [vocab_size] or empty
  std::vector<int32_t> slots_;               // open addressing over texts_, -1 is free; a power of two
  std::vector<int32_t> byte_pieces_;         // [256]
  bool has_byte_pieces_ = false;
  bool has_types_ = false;
};

// A name for an error's sentence: printable, short, quoted.
std::string quoted(std::string_view text);

}  // namespace gainz
