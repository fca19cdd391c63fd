// PieceMatcher: which of a set of spellings begin at a place in a text. A sorted list narrowed byte by byte, so it needs no
// more memory than the list itself. Views must outlive it. Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gainz {

class PieceMatcher {
 public:
  struct Piece {
    std::string_view text;  // not empty
    int32_t id;
  };
  PieceMatcher() = default;
  explicit PieceMatcher(std::vector<Piece> pieces);

  bool empty() const { return pieces_.empty(); }
  bool may_start(char c) const { return first_[static_cast<uint8_t>(c)] != first_[static_cast<uint8_t>(c) + size_t{1}]; }

  template <class Visit>
  void each(Visit visit) const {
    for (const Piece& piece : pieces_) visit(piece);
  }

  // Calls `visit(id, num_bytes)` for every piece that `text` begins with, shortest first.
  template <class Visit>
  void each_prefix(std::string_view text, Visit visit) const {
    if (text.empty()) return;
    Range range{first_[static_cast<uint8_t>(text[0])], first_[static_cast<uint8_t>(text[0]) + size_t{1}]};
    for (size_t depth = 1; range.low < range.high; ++depth) {
      if (pieces_[range.low].text.size() == depth) visit(pieces_[range.low++].id, depth);
      if (depth >= text.size()) return;
      range = narrow(range, depth, text[depth]);
    }
  }

 private:
  struct Range {
    size_t low = 0, high = 0;
  };
  // REQUIRES: all pieces of the range are longer than `depth` and equal before it.
  Range narrow(Range range, size_t depth, char c) const;

  std::vector<Piece> pieces_;  // sorted by bytes
  std::array<uint32_t, 257> first_{};
};

}  // namespace gainz
