// MergeTable: the merges of a byte-level BPE by the pair of ids: rank and the id of the joined piece. Open addressing, 16 bytes
// a slot. Threads: any, once created.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/vocab.h"

namespace gainz {

class MergeTable {
 public:
  struct Merge {
    uint32_t rank;  // position in the file; the lowest is merged first
    int32_t id;
  };

  // Errors name tokenizer.ggml.merges: invalid (no blank between the halves, a half or the whole is not in the vocabulary),
  // limit_exceeded. Of a merge listed twice the later rank counts, as in the tokenizers the files are made from.
  static Result<MergeTable> create(const Vocab& vocab, std::span<const std::string_view> merges);

  // nullptr if the two are never merged.
  const Merge* find(int32_t left, int32_t right) const;

 private:
  struct Slot {
    int32_t left = -1, right = -1;
    Merge merge{};
  };
  size_t home_of(int32_t left, int32_t right) const;

  std::vector<Slot> slots_;
  size_t mask_ = 0;
};

}  // namespace gainz
