#include "tokenizer/sentence_pieces.h"

#include "tokenizer/special_ids.h"

namespace gainz {

namespace {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t found = text.find(from, at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) break;
    out += to;
    at = found + from.size();
  }
  return out;
}

}  // namespace

Result<SentencePieces> SentencePieces::create(const Gguf& file, const Vocab& vocab) {
  SentencePieces out;
  out.vocab_ = &vocab;
  GAINZ_ASSIGN(out.unknown_, find_unknown(file, vocab));
  std::vector<PieceMatcher::Piece> pieces;
  for (int32_t id = 0; id < vocab.size(); ++id) {
    if (vocab.type(id) != PieceType::user_defined || vocab.text(id).empty()) continue;
    if (vocab.text(id).find(' ') == std::string_view::npos) {
      pieces.push_back({vocab.text(id), id});
    } else {
      out.spellings_.push_back(replace_all(vocab.text(id), " ", kBlankMark));
      pieces.push_back({out.spellings_.back(), id});
    }
  }
  out.user_pieces_ = PieceMatcher(pieces);
  GAINZ_ASSIGN(out.normalizer_, SentenceNormalizer::create(file, PieceMatcher(std::move(pieces))));
  return out;
}

Status SentencePieces::spell(std::string_view character, bool& after_unknown, std::vector<int32_t>& out) const {
  bool has_bytes = true;
  for (const char c : character) has_bytes = has_bytes && vocab_->byte_piece(static_cast<uint8_t>(c)) >= 0;
  if (has_bytes) {
    for (const char c : character) out.push_back(vocab_->byte_piece(static_cast<uint8_t>(c)));
    after_unknown = false;
    return {};
  }
  if (unknown_ < 0) {
    return {Code::invalid, "the text has " + quoted(character) +
                               ", for which this vocabulary has neither a piece, nor byte pieces, "
                               "nor an unknown piece"};
  }
  if (!after_unknown) out.push_back(unknown_);
  after_unknown = true;
  return {};
}

std::string SentencePieces::bytes_of(int32_t id) const {
  if (vocab_->type(id) == PieceType::byte) return std::string(1, static_cast<char>(vocab_->byte_value(id)));
  return replace_all(vocab_->text(id), kBlankMark, " ");
}

}  // namespace gainz
