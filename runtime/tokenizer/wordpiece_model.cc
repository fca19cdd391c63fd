#include "tokenizer/wordpiece_model.h"

#include <algorithm>

#include "tokenizer/limits.h"
#include "tokenizer/sentence_normalizer.h"
#include "tokenizer/special_ids.h"
#include "tokenizer/unicode_text.h"
#include "tokenizer/utf8.h"

namespace gainz {

namespace {

constexpr std::string_view kContinuation = "##";

bool is_chinese(int32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_ascii_punctuation(int32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Control characters go, every white space becomes a blank, Chinese characters stand alone.
std::string clean(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  while (!text.empty()) {
    const utf8::Step step = utf8::decode(text);
    text.remove_prefix(step.num_bytes);
    const auto c = static_cast<int32_t>(step.code_point);
    if (!step.valid || c == 0 || c == 0xFFFD) continue;
    if (unicode::is_white_space(c) && !(c == 0x0B || c == 0x0C || c == 0x85))
      out += ' ';
    else if (unicode::is_other(c))
      continue;
    else if (is_chinese(c))
      out.append(" "), utf8::append(out, step.code_point), out.append(" ");
    else
      utf8::append(out, step.code_point);
  }
  return out;
}

}  // namespace

WordPieceModel::WordPieceModel(const Vocab& vocab) : vocab_(vocab) {}

Result<std::unique_ptr<TextModel>> WordPieceModel::create(const Gguf& file, const Vocab& vocab) {
  std::unique_ptr<WordPieceModel> model(new WordPieceModel(vocab));
  GAINZ_ASSIGN(model->unknown_, find_unknown(file, vocab));
  if (model->unknown_ < 0) return Status(Code::invalid, "tokenizer.ggml.unknown_token_id: absent, and no token is [UNK]");
  model->index_pieces();
  GAINZ_TRY(model->read_normalizer(file));
  return std::unique_ptr<TextModel>(std::move(model));
}

// Files seldom say whether their model lowers the case. A vocabulary with capital letters was made without lowering.
Status WordPieceModel::read_normalizer(const Gguf& file) {
  bool has_capital = false;
  const auto look = [&](const PieceMatcher::Piece& piece) {
    const PieceType type = vocab_.type(piece.id);
    if (type != PieceType::normal || piece.text.front() == '[') return;
    has_capital = has_capital || std::any_of(piece.text.begin(), piece.text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  };
  beginnings_.each(look);
  continuations_.each(look);
  GAINZ_ASSIGN(lowers_case_, file.boolean_or("tokenizer.ggml.normalizer.lowercase", !has_capital));
  GAINZ_ASSIGN(strips_accents_, file.boolean_or("tokenizer.ggml.normalizer.strip_accents", lowers_case_));
  return {};
}

void WordPieceModel::index_pieces() {
  for (int32_t id = 0; id < vocab_.size(); ++id)
    marks_beginnings_ = marks_beginnings_ || vocab_.text(id).starts_with(kBlankMark);
  std::vector<PieceMatcher::Piece> beginnings, continuations;
  const std::string_view mark = marks_beginnings_ ? kBlankMark : kContinuation;
  for (int32_t id = 0; id < vocab_.size(); ++id) {
    if (vocab_.find_text(vocab_.text(id)) != id) continue;
    std::string_view text = vocab_.text(id);
    const bool marked = text.size() > mark.size() && text.starts_with(mark);
    if (marked) text.remove_prefix(mark.size());
    (marked == marks_beginnings_ ? beginnings : continuations).push_back({text, id});
  }
  beginnings_ = PieceMatcher(std::move(beginnings));
  continuations_ = PieceMatcher(std::move(continuations));
}

std::vector<std::string> WordPieceModel::words_of(std::string_view raw) const {
  std::string text = clean(raw);
  if (strips_accents_) {
    std::string bare;
    bare.reserve(text.size());
    for (const int32_t c : unicode::nfd_code_points(text)) {
      if (!unicode::is_nonspacing_mark(c)) utf8::append(bare, static_cast<uint32_t>(c));
    }
    text.swap(bare);
  }
  std::vector<std::string> words;
  bool open = false;  // whether the last word may grow
  for (std::string_view rest = text; !rest.empty();) {
    const utf8::Step step = utf8::decode(rest);
    rest.remove_prefix(step.num_bytes);
    auto c = static_cast<int32_t>(step.code_point);
    if (lowers_case_ && c == 0x130) {  // the one letter whose lower case is two characters
      if (!open) words.emplace_back();
      words.back() += "i\xCC\x87";
      open = true;
      continue;
    }
    if (lowers_case_) c = unicode::to_lower(c);
    if (unicode::is_white_space(c)) {
      open = false;
      continue;
    }
    const bool alone = is_ascii_punctuation(c) || unicode::is_punctuation(c);
    if (alone || !open) words.emplace_back();
    utf8::append(words.back(), static_cast<uint32_t>(c));
    open = !alone;
  }
  return words;
}

void WordPieceModel::encode_word(std::string_view word, std::vector<int32_t>& out) const {
  const auto num_chars =
      std::count_if(word.begin(), word.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; });
  const size_t begin = out.size();
  for (size_t at = 0; at < word.size();) {
    int32_t id = -1;
    size_t num_bytes = 0;
    if (static_cast<uint64_t>(num_chars) <= tokenizer_limits::kMaxWordChars) {
      (at == 0 ? beginnings_ : continuations_).each_prefix(word.substr(at), [&](int32_t found, size_t length) {
        id = found;
        num_bytes = length;
      });
    }
    if (id < 0) {
      out.resize(begin);
      out.push_back(unknown_);
      return;
    }
    out.push_back(id);
    at += num_bytes;
  }
}

Status WordPieceModel::encode(std::string_view text, bool, std::vector<int32_t>& out) const {
  for (const std::string& word : words_of(text)) encode_word(word, out);
  return {};
}

void WordPieceModel::append_bytes(int32_t id, std::string& out) const {
  const std::string_view text = vocab_.text(id);
  const std::string_view mark = marks_beginnings_ ? kBlankMark : kContinuation;
  const bool marked = text.starts_with(mark);
  if (marked == marks_beginnings_) out += ' ';
  out += marked ? text.substr(mark.size()) : text;
}

}  // namespace gainz
