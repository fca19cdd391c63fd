#include "tokenizer/vocab.h"

#include <bit>
#include <cmath>
#include <functional>

#include "tokenizer/limits.h"
#include "tokenizer/utf8.h"

namespace gainz {

namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
constexpr std::string_view kTypes = "tokenizer.ggml.token_type";
constexpr std::string_view kScores = "tokenizer.ggml.scores";
constexpr uint32_t kGgufU32 = 4, kGgufI32 = 5;

size_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The value of <0xHH>, or -1.
int byte_spelling(std::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return -1;
  const int high = hex_digit(text[3]), low = hex_digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

Status invalid(std::string_view key, const std::string& what) { return {Code::invalid, std::string(key) + ": " + what}; }

}  // namespace

std::string quoted(std::string_view text) {
  constexpr size_t kShown = 40;
  const std::string shown = utf8::repair(text.substr(0, kShown));
  return "'" + shown + (text.size() > kShown ? "...'" : "'");
}

Result<Vocab> Vocab::create(std::shared_ptr<const Gguf> file) {
  Vocab vocab;
  GAINZ_ASSIGN(vocab.texts_, file->strings(kTokens));
  GAINZ_TRY(vocab.check_texts());
  GAINZ_TRY(vocab.read_types(*file));
  GAINZ_TRY(vocab.read_scores(*file));
  GAINZ_TRY(vocab.index_texts());
  GAINZ_TRY(vocab.index_bytes());
  vocab.file_ = std::move(file);
  return vocab;
}

Status Vocab::check_texts() {
  using namespace tokenizer_limits;
  if (texts_.empty()) return invalid(kTokens, "the vocabulary is empty");
  if (texts_.size() > kMaxTokens) {
    return {Code::limit_exceeded, std::string(kTokens) + ": " + std::to_string(texts_.size()) + " tokens, the limit is " +
                                      std::to_string(kMaxTokens)};
  }
  for (size_t id = 0; id < texts_.size(); ++id) {
    if (texts_[id].size() > kMaxTokenBytes) {
      return {Code::limit_exceeded, std::string(kTokens) + ": token " + std::to_string(id) + " has " +
                                        std::to_string(texts_[id].size()) + " bytes, the limit is " +
                                        std::to_string(kMaxTokenBytes)};
    }
    if (!utf8::is_valid(texts_[id])) return invalid(kTokens, "token " + std::to_string(id) + " is not valid UTF-8");
  }
  return {};
}

Status Vocab::read_types(const Gguf& file) {
  types_.assign(texts_.size(), static_cast<uint8_t>(PieceType::normal));
  if (!file.has(kTypes)) return {};
  const auto* array = std::get_if<GgufArray>(&file.metadata().at(kTypes));
  if (array == nullptr || (array->element_type != kGgufI32 && array->element_type != kGgufU32)) {
    return invalid(kTypes, "must be an array of 32-bit integers");
  }
  GAINZ_ASSIGN(const std::vector<int64_t> types, file.integers(kTypes));
  if (types.size() != texts_.size()) {
    return invalid(kTypes, std::to_string(types.size()) + " types for " + std::to_string(texts_.size()) + " tokens");
  }
  for (size_t id = 0; id < types.size(); ++id) {
    if (types[id] < 0 || types[id] > 6) {
      return invalid(kTypes, "token " + std::to_string(id) + " has type " + std::to_string(types[id]) + ", known are 0 to 6");
    }
    if (types[id] != 0) types_[id] = static_cast<uint8_t>(types[id]);
  }
  has_types_ = true;
  return {};
}

Status Vocab::read_scores(const Gguf& file) {
  if (!file.has(kScores)) return {};
  GAINZ_ASSIGN(scores_, file.floats(kScores));
  if (scores_.size() != texts_.size()) {
    return invalid(kScores, std::to_string(scores_.size()) + " scores for " + std::to_string(texts_.size()) + " tokens");
  }
  for (size_t id = 0; id < scores_.size(); ++id) {
    if (!std::isfinite(scores_[id])) return invalid(kScores, "the score of token " + std::to_string(id) + " is not finite");
  }
  return {};
}

// Empty spellings occur in real files (holes); they are in no index.
Status Vocab::index_texts() {
  slots_.assign(std::bit_ceil(texts_.size() * 2), -1);
  const size_t mask = slots_.size() - 1;
  for (size_t id = 0; id < texts_.size(); ++id) {
    if (texts_[id].empty()) continue;
    size_t slot = hash_of(texts_[id]) & mask;
    for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
      if (text(slots_[slot]) != texts_[id]) continue;
      return invalid(
          kTokens, "tokens " + std::to_string(slots_[slot]) + " and " + std::to_string(id) + " are both " + quoted(texts_[id]));
    }
    slots_[slot] = static_cast<int32_t>(id);
  }
  return {};
}

Status Vocab::index_bytes() {
  byte_pieces_.assign(256, -1);
  for (int32_t id = 0; id < size(); ++id) {
    if (type(id) != PieceType::byte) continue;
    const int value = byte_spelling(text(id));
    if (value < 0) {
      return invalid(kTokens,
                     "token " + std::to_string(id) + " is a byte piece but is spelled " + quoted(text(id)) + ", not <0xHH>");
    }
    if (byte_pieces_[static_cast<size_t>(value)] >= 0) {
      return invalid(kTokens, "tokens " + std::to_string(byte_pieces_[static_cast<size_t>(value)]) + " and " +
                                  std::to_string(id) + " are the same byte");
    }
    byte_pieces_[static_cast<size_t>(value)] = id;
    has_byte_pieces_ = true;
  }
  return {};
}

int32_t Vocab::find(std::string_view wanted) const {
  if (wanted.empty()) return -1;
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash_of(wanted) & mask; slots_[slot] >= 0; slot = (slot + 1) & mask) {
    if (text(slots_[slot]) == wanted) return slots_[slot];
  }
  return -1;
}

int32_t Vocab::find_text(std::string_view wanted) const {
  const int32_t id = find(wanted);
  if (id < 0) return -1;
  const PieceType kind = type(id);
  return kind == PieceType::normal || kind == PieceType::user_defined || kind == PieceType::unused ? id : -1;
}

uint8_t Vocab::byte_value(int32_t id) const { return static_cast<uint8_t>(byte_spelling(text(id))); }

}  // namespace gainz
