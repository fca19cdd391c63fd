#include "tokenizer/tokenizer.h"

#include <algorithm>

#include "tokenizer/bpe_model.h"
#include "tokenizer/limits.h"
#include "tokenizer/piece_matcher.h"
#include "tokenizer/special_ids.h"
#include "tokenizer/spm_model.h"
#include "tokenizer/unigram_model.h"
#include "tokenizer/utf8.h"
#include "tokenizer/wordpiece_model.h"

namespace gainz {

namespace {

constexpr std::string_view kModel = "tokenizer.ggml.model";

struct Kind {
  std::string_view name;
  Result<std::unique_ptr<TextModel>> (*create)(const Gguf&, const Vocab&);
  SpecialDefaults defaults;
};

constexpr Kind kKinds[] = {
    {"gpt2", BpeModel::create, {}},
    {"llama", SpmModel::create, {.adds_bos = true, .classic_ids = true}},
    {"t5", UnigramModel::create, {.adds_eos = true, .classic_ids = true}},
    {"bert", WordPieceModel::create, {.adds_bos = true, .adds_separator = true}},
};

struct Stretch {
  size_t begin, end;
};

bool is_marker(PieceType type) { return type == PieceType::control || type == PieceType::unknown; }

}  // namespace

struct Tokenizer::Parts {
  std::shared_ptr<const Gguf> file;
  const Kind* kind = nullptr;
  Vocab vocab;
  SpecialIds special;
  std::unique_ptr<TextModel> model;
  PieceMatcher cuts;  // pieces that are cut out before the model sees the text
  bool cuts_user_pieces = false;

  void index_cuts();
  Status encode(std::string_view text, std::span<const Stretch> trusted, std::vector<int32_t>& out) const;
};

void Tokenizer::Parts::index_cuts() {
  std::vector<PieceMatcher::Piece> pieces;
  for (int32_t id = 0; id < vocab.size(); ++id) {
    if (vocab.text(id).empty()) continue;
    const bool by_user = vocab.type(id) == PieceType::user_defined && model->wants_user_pieces_cut();
    if (by_user || is_marker(vocab.type(id))) pieces.push_back({vocab.text(id), id});
    cuts_user_pieces = cuts_user_pieces || by_user;
  }
  cuts = PieceMatcher(std::move(pieces));
}

// At each place the longest piece that may stand there is cut out; what lies between goes to the model.
Status Tokenizer::Parts::encode(std::string_view text, std::span<const Stretch> trusted, std::vector<int32_t>& out) const {
  size_t done = 0;
  bool starts = true;
  const auto encode_before = [&](size_t end) -> Status {
    if (end > done) GAINZ_TRY(model->encode(text.substr(done, end - done), starts, out));
    return {};
  };
  const size_t first = cuts_user_pieces ? 0 : trusted.empty() ? text.size() : trusted[0].begin;
  size_t range = 0;
  for (size_t at = first; at < text.size();) {
    while (range < trusted.size() && trusted[range].end <= at) ++range;
    const size_t trusted_end = range < trusted.size() && trusted[range].begin <= at ? trusted[range].end : at;
    int32_t id = -1;
    size_t num_bytes = 0;
    if (cuts.may_start(text[at])) {
      cuts.each_prefix(text.substr(at), [&](int32_t found, size_t length) {
        if (is_marker(vocab.type(found)) && at + length > trusted_end) return;
        id = found;
        num_bytes = length;
      });
    }
    if (id < 0) {
      ++at;
      continue;
    }
    GAINZ_TRY(encode_before(at));
    out.push_back(id);
    starts = is_marker(vocab.type(id));
    at += num_bytes;
    done = at;
  }
  return encode_before(text.size());
}

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Result<std::shared_ptr<const Tokenizer>> Tokenizer::create(std::shared_ptr<const Gguf> file) {
  auto parts = std::make_unique<Parts>();
  GAINZ_ASSIGN(const std::string_view name, file->string(kModel));
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& known) { return known.name == name; });
  if (kind == std::end(kKinds)) {
    return Status(Code::unsupported,
                  std::string(kModel) + ": unknown tokenizer " + quoted(name) + "; known are gpt2, llama, t5 and bert");
  }
  parts->kind = kind;
  GAINZ_ASSIGN(parts->vocab, Vocab::create(file));
  GAINZ_TRY(mark_named_controls(*file, parts->vocab));
  SpecialDefaults defaults = kind->defaults;
  if (kind->create == BpeModel::create) {
    GAINZ_ASSIGN(const std::string_view pre, file->string_or("tokenizer.ggml.pre", ""));
    const PreTokenizerRule* rule = find_pre_tokenizer(pre);
    defaults.adds_bos = rule != nullptr && rule->adds_bos;
  }
  GAINZ_ASSIGN(parts->special, SpecialIds::create(*file, parts->vocab, defaults));
  GAINZ_ASSIGN(parts->model, kind->create(*file, parts->vocab));
  parts->index_cuts();
  parts->file = std::move(file);
  return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(parts)));
}

Result<std::vector<int32_t>> Tokenizer::encode(std::span<const TextPiece> pieces, bool add_special) const {
  std::string joined;
  std::vector<Stretch> trusted;
  size_t num_bytes = 0;
  for (const TextPiece& piece : pieces) {
    const size_t begin = num_bytes;
    num_bytes += piece.text.size();
    if (num_bytes > tokenizer_limits::kMaxTextBytes) {
      return Status(Code::limit_exceeded,
                    "the text has more than " + std::to_string(tokenizer_limits::kMaxTextBytes) + " bytes");
    }
    if (!piece.parse_special || piece.text.empty()) continue;
    if (!trusted.empty() && trusted.back().end == begin)
      trusted.back().end = num_bytes;
    else
      trusted.push_back({begin, num_bytes});
  }
  std::string_view text = pieces.size() == 1 ? pieces[0].text : std::string_view();
  if (pieces.size() > 1) {
    joined.reserve(num_bytes);
    for (const TextPiece& piece : pieces) joined += piece.text;
    text = joined;
  }
  std::vector<int32_t> out;
  const SpecialIds& special = parts_->special;
  if (add_special && special.adds_bos) out.push_back(*special.bos);
  GAINZ_TRY(parts_->encode(text, trusted, out));
  if (add_special && special.adds_separator) out.push_back(*special.separator);
  if (add_special && special.adds_eos) out.push_back(*special.eos);
  return out;
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, bool parse_special, bool add_special) const {
  const TextPiece piece{text, parse_special};
  return encode({&piece, 1}, add_special);
}

Status Tokenizer::check_ids(std::span<const int32_t> ids) const {
  if (ids.size() > tokenizer_limits::kMaxDecodeTokens) {
    return Status(Code::limit_exceeded, std::to_string(ids.size()) + " ids to decode, the limit is " +
                                            std::to_string(tokenizer_limits::kMaxDecodeTokens));
  }
  for (const int32_t id : ids) {
    if (parts_->vocab.contains(id)) continue;
    return Status(Code::invalid, "token id " + std::to_string(id) + " is not in the vocabulary of " +
                                     std::to_string(vocab_size()) + " tokens");
  }
  return {};
}

Result<std::string> Tokenizer::decode_raw(std::span<const int32_t> ids, bool skip_special) const {
  GAINZ_TRY(check_ids(ids));
  std::string bytes;
  for (const int32_t id : ids) {
    if (!skip_special || !is_special(id)) bytes += token_bytes(id);
  }
  return bytes;
}

Result<std::string> Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  GAINZ_TRY(check_ids(ids));
  std::string bytes;
  bool drops_blank = parts_->model->drops_first_blank();
  for (const int32_t id : ids) {
    if (is_special(id)) {
      if (skip_special) continue;
      bytes += parts_->vocab.text(id);
      drops_blank = false;
      continue;
    }
    const size_t begin = bytes.size();
    parts_->model->append_bytes(id, bytes);
    if (drops_blank && bytes.size() > begin && bytes[begin] == ' ') bytes.erase(begin, 1);
    drops_blank = false;
  }
  return utf8::repair(bytes);
}

std::string Tokenizer::token_bytes(int32_t id) const {
  std::string out;
  append_token_bytes(id, out);
  return out;
}

void Tokenizer::append_token_bytes(int32_t id, std::string& out) const {
  if (!parts_->vocab.contains(id)) return;
  if (is_special(id))
    out += parts_->vocab.text(id);
  else
    parts_->model->append_bytes(id, out);
}

std::string_view Tokenizer::token_text(int32_t id) const {
  return parts_->vocab.contains(id) ? parts_->vocab.text(id) : std::string_view();
}

int32_t Tokenizer::vocab_size() const { return parts_->vocab.size(); }
std::optional<int32_t> Tokenizer::bos() const { return parts_->special.bos; }
std::optional<int32_t> Tokenizer::eos() const { return parts_->special.eos; }
std::optional<int32_t> Tokenizer::unk() const { return parts_->special.unknown; }
std::optional<int32_t> Tokenizer::pad() const { return parts_->special.padding; }
bool Tokenizer::adds_bos() const { return parts_->special.adds_bos; }
bool Tokenizer::adds_eos() const { return parts_->special.adds_eos; }
bool Tokenizer::is_special(int32_t id) const { return parts_->vocab.contains(id) && is_marker(parts_->vocab.type(id)); }
const std::vector<int32_t>& Tokenizer::end_ids() const { return parts_->special.ends; }
std::string_view Tokenizer::kind() const { return parts_->kind->name; }

bool Tokenizer::is_end_of_generation(int32_t id) const {
  const std::vector<int32_t>& ends = parts_->special.ends;
  return std::binary_search(ends.begin(), ends.end(), id);
}

}  // namespace gainz
