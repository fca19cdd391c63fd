#include "tokenizer/bpe_model.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "tokenizer/byte_level.h"
#include "tokenizer/unicode_text.h"
#include "tokenizer/utf8.h"

namespace gainz {

namespace {

constexpr std::string_view kPre = "tokenizer.ggml.pre";
constexpr size_t kNumCachedWords = 4096;  // of one call; a power of two
constexpr size_t kMaxCachedBytes = 32;    // longer words are seldom met twice
constexpr size_t kMinCachedText = 8192;   // a shorter text does not repay the cache
constexpr size_t kSmallWord = 24;         // up to here scanning for the best pair beats a heap

struct Symbol {
  int32_t id;
  int32_t previous, next;  // -1 at the ends
};

struct Candidate {
  uint32_t rank;
  int32_t left;          // position of the left symbol
  int32_t id, right_id;  // what the pair was when it was found: stale if it has changed
  int32_t left_id;
};

struct Later {
  bool operator()(const Candidate& a, const Candidate& b) const { return a.rank != b.rank ? a.rank > b.rank : a.left > b.left; }
};

}  // namespace

// The words of one encode call: scratch memory and a cache of the words met so far.
class BpeModel::Words {
 public:
  Words(const BpeModel& model, size_t num_text_bytes) : model_(model) {
    if (num_text_bytes >= kMinCachedText) cache_.resize(kNumCachedWords);
  }

  std::vector<std::string_view> split;

  Status encode(std::string_view word, std::vector<int32_t>& out) {
    if (word.size() == 1) return encode_bytes(word, out);
    if (cache_.empty() || word.size() > kMaxCachedBytes) return encode_word(word, out);
    Entry& entry = cache_[std::hash<std::string_view>()(word) & (kNumCachedWords - 1)];
    if (entry.word != word) {
      const size_t begin = out.size();
      GAINZ_TRY(encode_word(word, out));
      entry.word.assign(word);
      entry.ids.assign(out.begin() + static_cast<ptrdiff_t>(begin), out.end());
      return {};
    }
    out.insert(out.end(), entry.ids.begin(), entry.ids.end());
    return {};
  }

 private:
  struct Entry {
    std::string word;
    std::vector<int32_t> ids;
  };

  Status encode_word(std::string_view word, std::vector<int32_t>& out) {
    if (model_.pre_tokenizer_.rule().whole_words) {
      const int32_t id = model_.vocab_.find_text(byte_level::spell(word));
      if (id >= 0) {
        out.push_back(id);
        return {};
      }
    }
    return encode_bytes(word, out);
  }

  Status encode_bytes(std::string_view word, std::vector<int32_t>& out) {
    ids_.clear();
    for (const char c : word) {
      const auto byte = static_cast<uint8_t>(c);
      const int32_t id = model_.byte_ids_[byte] >= 0 ? model_.byte_ids_[byte] : model_.unknown_;
      if (id < 0) {
        char text[8];
        std::snprintf(text, sizeof text, "0x%02X", byte);
        return {Code::invalid, std::string("the text has the byte ") + text + ", for which this vocabulary has no piece"};
      }
      ids_.push_back(id);
    }
    if (ids_.size() <= kSmallWord)
      merge_small();
    else
      merge_large();
    out.insert(out.end(), ids_.begin(), ids_.end());
    return {};
  }

  void merge_small() {
    while (ids_.size() > 1) {
      const MergeTable::Merge* best = nullptr;
      size_t at = 0;
      for (size_t i = 0; i + 1 < ids_.size(); ++i) {
        const MergeTable::Merge* merge = model_.merges_.find(ids_[i], ids_[i + 1]);
        if (merge == nullptr || (best != nullptr && merge->rank >= best->rank)) continue;
        best = merge;
        at = i;
      }
      if (best == nullptr) return;
      ids_[at] = best->id;
      ids_.erase(ids_.begin() + static_cast<ptrdiff_t>(at) + 1);
    }
  }

  // At the end of heap_, not yet in order.
  bool add_candidate(int32_t left) {
    if (left < 0 || symbols_[static_cast<size_t>(left)].next < 0) return false;
    const Symbol& symbol = symbols_[static_cast<size_t>(left)];
    const int32_t right_id = symbols_[static_cast<size_t>(symbol.next)].id;
    const MergeTable::Merge* merge = model_.merges_.find(symbol.id, right_id);
    if (merge == nullptr) return false;
    heap_.push_back({merge->rank, left, merge->id, right_id, symbol.id});
    return true;
  }

  void push_candidate(int32_t left) {
    if (add_candidate(left)) std::push_heap(heap_.begin(), heap_.end(), Later());
  }

  void merge_large() {
    const auto num_symbols = static_cast<int32_t>(ids_.size());
    symbols_.resize(ids_.size());
    heap_.clear();
    for (int32_t i = 0; i < num_symbols; ++i) {
      symbols_[static_cast<size_t>(i)] = {ids_[static_cast<size_t>(i)], i - 1, i + 1 < num_symbols ? i + 1 : -1};
    }
    for (int32_t i = 0; i + 1 < num_symbols; ++i) add_candidate(i);
    std::make_heap(heap_.begin(), heap_.end(), Later());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), Later());
      const Candidate best = heap_.back();
      heap_.pop_back();
      Symbol& left = symbols_[static_cast<size_t>(best.left)];
      if (left.id != best.left_id || left.next < 0) continue;
      Symbol& right = symbols_[static_cast<size_t>(left.next)];
      if (right.id != best.right_id) continue;
      left.id = best.id;
      right.id = -1;
      left.next = right.next;
      if (left.next >= 0) symbols_[static_cast<size_t>(left.next)].previous = best.left;
      push_candidate(left.previous);
      push_candidate(best.left);
    }
    ids_.clear();
    for (int32_t i = 0; i >= 0; i = symbols_[static_cast<size_t>(i)].next) ids_.push_back(symbols_[static_cast<size_t>(i)].id);
  }

  const BpeModel& model_;
  std::vector<Entry> cache_;
  std::vector<int32_t> ids_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

BpeModel::BpeModel(const Vocab& vocab, PreTokenizer pre_tokenizer, MergeTable merges)
    : vocab_(vocab), pre_tokenizer_(std::move(pre_tokenizer)), merges_(std::move(merges)) {
  for (size_t byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    byte_ids_[byte] = vocab.find_text(byte_level::spell({&c, 1}));
  }
  for (int32_t id = 0; id < vocab.size() && unknown_ < 0; ++id) {
    if (vocab.type(id) == PieceType::unknown) unknown_ = id;
  }
}

Result<std::unique_ptr<TextModel>> BpeModel::create(const Gguf& file, const Vocab& vocab) {
  GAINZ_ASSIGN(const std::string_view name, file.string(kPre));
  const PreTokenizerRule* rule = find_pre_tokenizer(name);
  if (rule == nullptr) {
    return Status(Code::unsupported,
                  std::string(kPre) + ": unknown pre-tokenizer " + quoted(name) + "; known are " + pre_tokenizer_names());
  }
  GAINZ_ASSIGN(const std::span<const std::string_view> texts, file.strings("tokenizer.ggml.merges"));
  GAINZ_ASSIGN(PreTokenizer pre_tokenizer, PreTokenizer::create(*rule));
  GAINZ_ASSIGN(MergeTable merges, MergeTable::create(vocab, texts));
  return std::unique_ptr<TextModel>(new BpeModel(vocab, std::move(pre_tokenizer), std::move(merges)));
}

Status BpeModel::encode_valid(std::string_view text, Words& words, std::vector<int32_t>& out) const {
  const std::string normal = pre_tokenizer_.rule().nfc ? unicode::nfc(text) : std::string();
  GAINZ_TRY(pre_tokenizer_.split(pre_tokenizer_.rule().nfc ? std::string_view(normal) : text, words.split));
  for (const std::string_view word : words.split) GAINZ_TRY(words.encode(word, out));
  return {};
}

Status BpeModel::encode(std::string_view text, bool, std::vector<int32_t>& out) const {
  Words words(*this, text.size());
  while (!text.empty()) {
    const size_t num_valid = utf8::valid_prefix(text);
    if (num_valid > 0) GAINZ_TRY(encode_valid(text.substr(0, num_valid), words, out));
    text.remove_prefix(num_valid);
    size_t num_broken = 0;
    while (num_broken < text.size()) {
      const utf8::Step step = utf8::decode(text.substr(num_broken));
      if (step.valid) break;
      num_broken += step.num_bytes;
    }
    if (num_broken > 0) GAINZ_TRY(words.encode(text.substr(0, num_broken), out));
    text.remove_prefix(num_broken);
  }
  return {};
}

void BpeModel::append_bytes(int32_t id, std::string& out) const {
  const PieceType type = vocab_.type(id);
  if (type == PieceType::byte)
    out += static_cast<char>(vocab_.byte_value(id));
  else if (type == PieceType::user_defined)
    out += vocab_.text(id);
  else
    byte_level::append_unspelled(vocab_.text(id), out);
}

}  // namespace gainz
