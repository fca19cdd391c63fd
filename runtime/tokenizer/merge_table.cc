#include "tokenizer/merge_table.h"

#include <bit>
#include <string>

#include "tokenizer/limits.h"

namespace gainz {

namespace {

Status bad_merge(size_t rank, std::string_view text, const std::string& what) {
  return {Code::invalid, "tokenizer.ggml.merges: merge " + std::to_string(rank) + " " + quoted(text) + " " + what};
}

}  // namespace

size_t MergeTable::home_of(int32_t left, int32_t right) const {
  uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  key *= 0x9E3779B97F4A7C15u;
  return static_cast<size_t>(key ^ key >> 32) & mask_;
}

Result<MergeTable> MergeTable::create(const Vocab& vocab, std::span<const std::string_view> merges) {
  if (merges.size() > tokenizer_limits::kMaxMerges) {
    return Status(Code::limit_exceeded, "tokenizer.ggml.merges: " + std::to_string(merges.size()) + " merges, the limit is " +
                                            std::to_string(tokenizer_limits::kMaxMerges));
  }
  MergeTable table;
  table.slots_.resize(std::bit_ceil(merges.size() * 3 / 2 + 2));
  table.mask_ = table.slots_.size() - 1;
  std::string whole;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view text = merges[rank];
    const size_t blank = text.find(' ', 1);
    if (text.empty() || blank == std::string_view::npos || blank + 1 == text.size()) {
      return bad_merge(rank, text, "is not two pieces with a blank between");
    }
    const std::string_view left = text.substr(0, blank), right = text.substr(blank + 1);
    const int32_t left_id = vocab.find(left), right_id = vocab.find(right);
    if (left_id < 0 || right_id < 0) return bad_merge(rank, text, "names a piece that is not in the vocabulary");
    whole.assign(left).append(right);
    const int32_t whole_id = vocab.find(whole);
    if (whole_id < 0) return bad_merge(rank, text, "makes a piece that is not in the vocabulary");
    size_t slot = table.home_of(left_id, right_id);
    while (table.slots_[slot].left >= 0 && (table.slots_[slot].left != left_id || table.slots_[slot].right != right_id)) {
      slot = (slot + 1) & table.mask_;
    }
    table.slots_[slot] = {left_id, right_id, {static_cast<uint32_t>(rank), whole_id}};
  }
  return table;
}

const MergeTable::Merge* MergeTable::find(int32_t left, int32_t right) const {
  for (size_t slot = home_of(left, right); slots_[slot].left >= 0; slot = (slot + 1) & mask_) {
    if (slots_[slot].left == left && slots_[slot].right == right) return &slots_[slot].merge;
  }
  return nullptr;
}

}  // namespace gainz
