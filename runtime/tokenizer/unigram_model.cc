#include "tokenizer/unigram_model.h"

#include <algorithm>
#include <limits>

#include "tokenizer/utf8.h"

namespace gainz {

namespace {

constexpr float kUnknownPenalty = 10.0f;  // an unknown character costs this more than the worst piece

// The best way to reach a place in the text.
struct Node {
  float score = 0.0f;
  int32_t id = -1;         // of the last piece, -1: a character without one
  uint32_t num_bytes = 0;  // of the last piece; 0: not reached yet
};

}  // namespace

UnigramModel::UnigramModel(SentencePieces pieces) : pieces_(std::move(pieces)) {
  const Vocab& vocab = pieces_.vocab();
  std::vector<PieceMatcher::Piece> found;
  float min_score = std::numeric_limits<float>::max();
  max_score_ = std::numeric_limits<float>::min();  // so that scores, which are logarithms, leave it at about 0: a user-defined
                                                   // piece costs next to nothing, however long
  for (int32_t id = 0; id < vocab.size(); ++id) {
    const PieceType type = vocab.type(id);
    if (type == PieceType::normal) {
      min_score = std::min(min_score, vocab.score(id));
      max_score_ = std::max(max_score_, vocab.score(id));
    }
    if (type == PieceType::normal && !vocab.text(id).empty()) found.push_back({vocab.text(id), id});
  }
  pieces_.user_pieces().each([&](const PieceMatcher::Piece& piece) { found.push_back(piece); });
  matcher_ = PieceMatcher(std::move(found));
  if (min_score == std::numeric_limits<float>::max()) min_score = 0.0f;  // no normal piece at all
  unknown_score_ = min_score - kUnknownPenalty;
}

Result<std::unique_ptr<TextModel>> UnigramModel::create(const Gguf& file, const Vocab& vocab) {
  if (!vocab.has_scores()) return Status(Code::not_found, "tokenizer.ggml.scores: absent, and tokenizer.ggml.model needs it");
  GAINZ_ASSIGN(SentencePieces pieces, SentencePieces::create(file, vocab));
  return std::unique_ptr<TextModel>(new UnigramModel(std::move(pieces)));
}

Status UnigramModel::encode(std::string_view raw, bool starts, std::vector<int32_t>& out) const {
  const std::string normal = pieces_.normalizer().normalize(raw, starts);
  const std::string_view text = normal;
  std::vector<Node> nodes(text.size() + 1);
  for (size_t at = 0; at < text.size();) {
    const size_t num_bytes = utf8::decode(text.substr(at)).num_bytes;
    const float so_far = nodes[at].score;
    bool has_character = false;
    matcher_.each_prefix(text.substr(at), [&](int32_t id, size_t length) {
      const bool by_user = pieces_.vocab().type(id) == PieceType::user_defined;
      // Rounded where the reference rounds, else ties fall the other way.
      const double score =
          by_user ? static_cast<double>(static_cast<float>(length) * max_score_) - 0.1 : pieces_.vocab().score(id);
      const auto sum = static_cast<float>(score + so_far);
      Node& node = nodes[at + length];
      if (node.num_bytes == 0 || sum > node.score) node = {sum, id, static_cast<uint32_t>(length)};
      has_character = has_character || length == num_bytes;
    });
    if (!has_character) {
      Node& node = nodes[at + num_bytes];
      const float sum = unknown_score_ + so_far;
      if (node.num_bytes == 0 || sum > node.score) node = {sum, -1, static_cast<uint32_t>(num_bytes)};
    }
    at += num_bytes;
  }
  std::vector<size_t> ends;
  for (size_t at = text.size(); at > 0; at -= nodes[at].num_bytes) ends.push_back(at);
  bool after_unknown = false;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const Node& node = nodes[*end];
    if (node.id < 0) {
      GAINZ_TRY(pieces_.spell(text.substr(*end - node.num_bytes, node.num_bytes), after_unknown, out));
    } else {
      out.push_back(node.id);
      after_unknown = false;
    }
  }
  return {};
}

}  // namespace gainz
