#include "tokenizer/sentence_normalizer.h"

#include <cstring>

#include "tokenizer/limits.h"
#include "tokenizer/utf8.h"

namespace gainz {

namespace {

constexpr std::string_view kMap = "tokenizer.ggml.precompiled_charsmap";
constexpr uint32_t kGgufU8 = 0, kGgufI8 = 1;

// A unit of a Darts-clone array: a label or a value, whether a value hangs below, and where the children are.
bool has_leaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t value_of(uint32_t unit) { return unit & 0x7FFFFFFFu; }
uint32_t label_of(uint32_t unit) { return unit & 0x800000FFu; }
uint32_t offset_of(uint32_t unit) { return unit >> 10 << ((unit & 1u << 9) >> 6); }

}  // namespace

Result<SentenceNormalizer> SentenceNormalizer::create(const Gguf& file, PieceMatcher kept) {
  SentenceNormalizer out;
  out.kept_ = std::move(kept);
  GAINZ_ASSIGN(out.adds_blank_, file.boolean_or("tokenizer.ggml.add_space_prefix", true));
  GAINZ_ASSIGN(out.removes_extra_blanks_, file.boolean_or("tokenizer.ggml.remove_extra_whitespaces", false));
  GAINZ_TRY(out.read_map(file));
  return out;
}

Status SentenceNormalizer::read_map(const Gguf& file) {
  if (!file.has(kMap)) return {};
  const auto* array = std::get_if<GgufArray>(&file.metadata().at(kMap));
  if (array == nullptr || (array->element_type != kGgufU8 && array->element_type != kGgufI8)) {
    return {Code::invalid, std::string(kMap) + ": must be an array of bytes"};
  }
  const std::string_view blob(reinterpret_cast<const char*>(array->numbers.data()), array->numbers.size());
  if (blob.empty()) return {};
  if (blob.size() > tokenizer_limits::kMaxCharsmapBytes) {
    return {Code::limit_exceeded, std::string(kMap) + ": " + std::to_string(blob.size()) + " bytes, the limit is " +
                                      std::to_string(tokenizer_limits::kMaxCharsmapBytes)};
  }
  uint32_t trie_bytes = 0;
  if (blob.size() >= sizeof trie_bytes) std::memcpy(&trie_bytes, blob.data(), sizeof trie_bytes);
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes > blob.size() - sizeof trie_bytes) {
    return {Code::invalid, std::string(kMap) + ": its trie of " + std::to_string(trie_bytes) + " bytes does not fit into " +
                               std::to_string(blob.size()) + " bytes"};
  }
  trie_.resize(trie_bytes / 4);
  std::memcpy(trie_.data(), blob.data() + sizeof trie_bytes, trie_bytes);
  replacements_ = blob.substr(sizeof trie_bytes + trie_bytes);
  if (!replacements_.empty() && replacements_.back() != '\0') {
    return {Code::invalid, std::string(kMap) + ": its last replacement does not end"};
  }
  return {};
}

bool SentenceNormalizer::look_up(std::string_view text, Mapped& out) const {
  bool found = false;
  size_t node = offset_of(trie_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    node ^= byte;
    if (node >= trie_.size() || label_of(trie_[node]) != byte) return found;
    const uint32_t unit = trie_[node];
    node ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    if (node >= trie_.size() || value_of(trie_[node]) >= replacements_.size()) return found;
    out = {replacements_.data() + value_of(trie_[node]), i + 1};
    found = true;
  }
  return found;
}

SentenceNormalizer::Mapped SentenceNormalizer::next(std::string_view text) const {
  if (!trie_.empty()) {
    size_t num_kept = 0;
    kept_.each_prefix(text, [&](int32_t, size_t num_bytes) { num_kept = num_bytes; });
    if (num_kept > 0) return {text.substr(0, num_kept), num_kept};
    Mapped mapped{};
    if (look_up(text, mapped)) return mapped;
  }
  const size_t num_bytes = utf8::decode(text).num_bytes;
  return {text.substr(0, num_bytes), num_bytes};
}

std::string SentenceNormalizer::normalize(std::string_view text, bool starts) const {
  std::string out;
  out.reserve(text.size() + text.size() / 4 + kBlankMark.size());
  if (removes_extra_blanks_ && starts) {
    while (!text.empty()) {
      const Mapped mapped = next(text);
      if (mapped.text != " ") break;
      text.remove_prefix(mapped.num_bytes);
    }
  }
  if (text.empty()) return out;
  if (adds_blank_ && starts) out += kBlankMark;
  bool after_blank = removes_extra_blanks_ && starts;
  while (!text.empty()) {
    Mapped mapped = next(text);
    text.remove_prefix(mapped.num_bytes);
    while (after_blank && !mapped.text.empty() && mapped.text[0] == ' ') mapped.text.remove_prefix(1);
    for (const char c : mapped.text) {
      if (c == ' ')
        out += kBlankMark;
      else
        out += c;
    }
    if (!mapped.text.empty()) after_blank = removes_extra_blanks_ && mapped.text.back() == ' ';
  }
  if (removes_extra_blanks_) {
    while (out.ends_with(kBlankMark)) out.resize(out.size() - kBlankMark.size());
  }
  return out;
}

}  // namespace gainz
