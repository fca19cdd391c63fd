// BpeModel: byte-level byte-pair encoding, by the merges of the file ("gpt2" in tokenizer.ggml.model).
//
// A word of n bytes takes n log n steps. Bytes that are not UTF-8 are words of their own and come back as they were.
// Source: Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units"; GPT-2's byte alphabet.
// Threads: any, once created. The Vocab must outlive it.
#pragma once

#include <array>
#include <memory>

#include "tokenizer/merge_table.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/text_model.h"

namespace gainz {

class BpeModel : public TextModel {
 public:
  // Errors: invalid or not_found naming tokenizer.ggml.merges, unsupported naming tokenizer.ggml.pre.
  static Result<std::unique_ptr<TextModel>> create(const Gguf& file, const Vocab& vocab);

  Status encode(std::string_view text, bool starts, std::vector<int32_t>& out) const override;
  void append_bytes(int32_t id, std::string& out) const override;

 private:
  BpeModel(const Vocab& vocab, PreTokenizer pre_tokenizer, MergeTable merges);
  class Words;
  Status encode_valid(std::string_view text, Words& words, std::vector<int32_t>& out) const;

  const Vocab& vocab_;
  PreTokenizer pre_tokenizer_;
  MergeTable merges_;
  std::array<int32_t, 256> byte_ids_{};  // the piece of a single byte, or -1
  int32_t unknown_ = -1;                 // of type unknown, never a control piece
};

}  // namespace gainz
