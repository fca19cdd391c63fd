#include "tokenizer/sentence_pieces.h"

#include "tokenizer/special_ids.h"

namespace gainz {

namespace {

void append_replaced(std::string_view text, std::string_view from, std::string_view to, std::string& out) {
  for (size_t at; (at = text.find(from)) != std::string_view::npos; text.remove_prefix(at + from.size())) {
    out += text.substr(0, at);
    out += to;
  }
  out += text;
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
      append_replaced(vocab.text(id), " ", kBlankMark, out.spellings_.emplace_back());
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

void SentencePieces::append_bytes(int32_t id, std::string& out) const {
  if (vocab_->type(id) == PieceType::byte)
    out += static_cast<char>(vocab_->byte_value(id));
  else
    append_replaced(vocab_->text(id), kBlankMark, " ", out);
}

}  // namespace gainz
