#include "tokenizer/spm_model.h"

#include <algorithm>
#include <unordered_map>

#include "tokenizer/utf8.h"

namespace gainz {

namespace {

struct Symbol {
  uint32_t begin, num_bytes;  // num_bytes 0: joined into the one before (a normalized text has less than 2^28 bytes)
  int32_t previous, next;
};

struct Candidate {
  float score;
  int32_t left, right;
  uint32_t num_bytes;  // of both when found: stale if they have grown
  int32_t id;
};

struct Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.score != b.score ? a.score < b.score : a.left > b.left;
  }
};

}  // namespace

// Joins the symbols of one normalized text.
class SpmModel::Joiner {
 public:
  Joiner(const SpmModel& model, std::string_view text) : model_(model), vocab_(model.pieces_.vocab()), text_(text) {}

  Status encode_all(std::vector<int32_t>& out) {
    const PieceMatcher& user_pieces = model_.pieces_.user_pieces();
    size_t begin = 0, at = 0;
    while (at < text_.size()) {
      int32_t id = -1;
      size_t num_bytes = 0;
      if (user_pieces.may_start(text_[at])) {
        user_pieces.each_prefix(text_.substr(at), [&](int32_t found, size_t length) {
          id = found;
          num_bytes = length;
        });
      }
      if (id < 0) {
        at += utf8::decode(text_.substr(at)).num_bytes;
        continue;
      }
      GAINZ_TRY(encode_part(begin, at, out));
      out.push_back(id);
      after_unknown_ = false;
      begin = at += num_bytes;
    }
    return encode_part(begin, text_.size(), out);
  }

 private:
  Status encode_part(size_t begin, size_t end, std::vector<int32_t>& out) {
    if (begin == end) return {};
    symbols_.clear();
    heap_.clear();
    split_unused_.clear();
    for (size_t at = begin; at < end;) {
      const uint32_t num_bytes = utf8::decode(text_.substr(at, end - at)).num_bytes;
      const auto index = static_cast<int32_t>(symbols_.size());
      symbols_.push_back({static_cast<uint32_t>(at), num_bytes, index - 1, index + 1});
      at += num_bytes;
    }
    symbols_.back().next = -1;
    for (int32_t i = 0; i + 1 < static_cast<int32_t>(symbols_.size()); ++i) add_candidate(i, i + 1);
    std::make_heap(heap_.begin(), heap_.end(), Later());
    join();
    for (int32_t i = 0; i >= 0; i = symbol(i).next) GAINZ_TRY(emit(text_.substr(symbol(i).begin, symbol(i).num_bytes), out));
    return {};
  }

  // At the end of heap_, not yet in order.
  bool add_candidate(int32_t left, int32_t right) {
    if (left < 0 || right < 0) return false;
    const uint32_t num_bytes = symbol(left).num_bytes + symbol(right).num_bytes;
    if (num_bytes > model_.max_piece_bytes_) return false;
    const int32_t id = vocab_.find_text(text_.substr(symbol(left).begin, num_bytes));
    if (id < 0) return false;
    if (vocab_.type(id) == PieceType::unused) split_unused_[id] = symbol(left).num_bytes;
    heap_.push_back({vocab_.score(id), left, right, num_bytes, id});
    return true;
  }

  void push_candidate(int32_t left, int32_t right) {
    if (add_candidate(left, right)) std::push_heap(heap_.begin(), heap_.end(), Later());
  }

  void join() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), Later());
      const Candidate best = heap_.back();
      heap_.pop_back();
      Symbol& left = symbol(best.left);
      Symbol& right = symbol(best.right);
      if (left.num_bytes == 0 || right.num_bytes == 0 || left.num_bytes + right.num_bytes != best.num_bytes) continue;
      left.num_bytes = best.num_bytes;
      right.num_bytes = 0;
      left.next = right.next;
      if (left.next >= 0) symbol(left.next).previous = best.left;
      push_candidate(left.previous, best.left);
      push_candidate(best.left, left.next);
    }
  }

  Status emit(std::string_view whole, std::vector<int32_t>& out) {
    parts_.assign(1, whole);
    while (!parts_.empty()) {
      const std::string_view part = parts_.back();
      parts_.pop_back();
      const int32_t id = vocab_.find_text(part);
      if (id < 0) {
        GAINZ_TRY(model_.pieces_.spell(part, after_unknown_, out));
        continue;
      }
      const auto split = vocab_.type(id) == PieceType::unused ? split_unused_.find(id) : split_unused_.end();
      if (split == split_unused_.end()) {
        out.push_back(id);
        after_unknown_ = false;
      } else {
        parts_.push_back(part.substr(split->second));
        parts_.push_back(part.substr(0, split->second));
      }
    }
    return {};
  }

  Symbol& symbol(int32_t index) { return symbols_[static_cast<size_t>(index)]; }

  const SpmModel& model_;
  const Vocab& vocab_;
  std::string_view text_;
  bool after_unknown_ = false;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
  std::vector<std::string_view> parts_;
  std::unordered_map<int32_t, size_t> split_unused_;  // unused piece -> bytes of the left half it was last joined from
};

SpmModel::SpmModel(SentencePieces pieces) : pieces_(std::move(pieces)) {
  for (int32_t id = 0; id < pieces_.vocab().size(); ++id) {
    max_piece_bytes_ = std::max(max_piece_bytes_, pieces_.vocab().text(id).size());
  }
}

Result<std::unique_ptr<TextModel>> SpmModel::create(const Gguf& file, const Vocab& vocab) {
  if (!vocab.has_scores()) return Status(Code::not_found, "tokenizer.ggml.scores: absent, and tokenizer.ggml.model needs it");
  GAINZ_ASSIGN(SentencePieces pieces, SentencePieces::create(file, vocab));
  return std::unique_ptr<TextModel>(new SpmModel(std::move(pieces)));
}

Status SpmModel::encode(std::string_view text, bool starts, std::vector<int32_t>& out) const {
  const std::string normal = pieces_.normalizer().normalize(text, starts);
  return Joiner(*this, normal).encode_all(out);
}

}  // namespace gainz
