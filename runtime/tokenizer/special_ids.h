// SpecialIds: which ids begin and end a text, which are unknown, padding or separators, and which end a generation.
//
// Reads tokenizer.ggml.*_token_id, tokenizer.ggml.add_*_token and the text of tokenizer.chat_template. Threads: any, once made.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gguf/gguf.h"
#include "tokenizer/vocab.h"

namespace gainz {

struct SpecialDefaults {  // of a kind of tokenizer, for what the file does not say
  bool adds_bos = false, adds_eos = false, adds_separator = false;
  bool classic_ids = false;  // <s> is 1 and </s> is 2, where these are control pieces
};

struct SpecialIds {
  std::optional<int32_t> bos, eos, unknown, padding, separator;
  bool adds_bos = false, adds_eos = false, adds_separator = false;
  // The file's end-of-text, end-of-turn and end-of-message ids; control pieces that are spelled as an end of text; and control
  // pieces spelled as an end of turn that the chat template names. Rising, each once.
  std::vector<int32_t> ends;

  // Errors name the key: invalid (an id that is no number or not in the vocabulary; a text that shall begin or end with a piece
  // that the file does not name).
  static Result<SpecialIds> create(const Gguf& file, const Vocab& vocab, const SpecialDefaults& defaults);
};

// The unknown piece by key, else by type; -1 if there is none. Errors: invalid naming the key.
Result<int32_t> find_unknown(const Gguf& file, const Vocab& vocab);

// In a file without types: the pieces that its keys name are control pieces. Errors: invalid naming the key.
Status mark_named_controls(const Gguf& file, Vocab& vocab);

}  // namespace gainz
