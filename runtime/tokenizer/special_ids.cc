#include "tokenizer/special_ids.h"

#include <algorithm>
#include <string>

namespace gainz {

namespace {

constexpr std::string_view kPrefix = "tokenizer.ggml.";
constexpr std::string_view kSuffix = "_token_id";
constexpr std::string_view kUnknown = "tokenizer.ggml.unknown_token_id";

// Spellings with which models end a text, whether or not a template is there.
constexpr std::string_view kTextEnds[] = {"<|endoftext|>", "<|end_of_text|>", "<|end▁of▁sentence|>", "<｜end▁of▁sentence｜>"};

// Spellings with which models end a turn: ends only where the template uses them.
constexpr std::string_view kTurnEnds[] = {"<|im_end|>",
                                          "<|eot_id|>",
                                          "<|eom_id|>",
                                          "<end_of_turn>",
                                          "<|end|>",
                                          "</s>",
                                          "<|end_of_turn|>",
                                          "<|endofturn|>",
                                          "<|eot|>",
                                          "<|eom|>",
                                          "<|return|>",
                                          "<|call|>",
                                          "<|END_OF_TURN_TOKEN|>",
                                          "<end_of_utterance>",
                                          "<eos>",
                                          "<EOT>",
                                          "<turn|>",
                                          "<|user_end|>",
                                          "<|end_of_role|>",
                                          "<eot>",
                                          "[EOS]",
                                          "<|EOT|>"};

bool is_id_key(std::string_view key) { return key.starts_with(kPrefix) && key.ends_with(kSuffix); }

Result<std::optional<int32_t>> read_id(const Gguf& file, const Vocab& vocab, std::string_view key) {
  if (!file.has(key)) return std::optional<int32_t>();
  GAINZ_ASSIGN(const uint64_t id, file.u64(key));
  if (id >= static_cast<uint64_t>(vocab.size())) {
    return Status(Code::invalid, std::string(key) + ": id " + std::to_string(id) + " is not in the vocabulary of " +
                                     std::to_string(vocab.size()) + " tokens");
  }
  return std::optional<int32_t>(static_cast<int32_t>(id));
}

bool is_control(const Vocab& vocab, int32_t id) { return id >= 0 && vocab.type(id) == PieceType::control; }

void add_template_ends(const Vocab& vocab, std::string_view chat_template, std::vector<int32_t>& ends) {
  for (const std::string_view text : kTextEnds) {
    if (is_control(vocab, vocab.find(text))) ends.push_back(vocab.find(text));
  }
  // Where a turn is made of messages (<|end|> closes each, <|return|> or <|call|> the last) the message's end is no turn's end.
  const bool has_messages = is_control(vocab, vocab.find("<|return|>")) && is_control(vocab, vocab.find("<|call|>"));
  for (const std::string_view text : kTurnEnds) {
    if (text == "<|end|>" && has_messages) continue;
    const int32_t id = vocab.find(text);
    if (is_control(vocab, id) && chat_template.find(text) != std::string_view::npos) ends.push_back(id);
  }
}

Status check_named(bool adds, std::string_view add_key, const std::optional<int32_t>& id, std::string_view id_key) {
  if (!adds || id) return {};
  return {Code::invalid, std::string(add_key) + ": true, but " + std::string(id_key) + " is absent"};
}

}  // namespace

Result<int32_t> find_unknown(const Gguf& file, const Vocab& vocab) {
  GAINZ_ASSIGN(const std::optional<int32_t> named, read_id(file, vocab, kUnknown));
  if (named) return *named;
  for (int32_t id = 0; id < vocab.size(); ++id) {
    if (vocab.type(id) == PieceType::unknown) return id;
  }
  return vocab.find("[UNK]");
}

Status mark_named_controls(const Gguf& file, Vocab& vocab) {
  if (vocab.has_types()) return {};
  for (const auto& [key, value] : file.metadata()) {
    if (!is_id_key(key)) continue;
    GAINZ_ASSIGN(const std::optional<int32_t> id, read_id(file, vocab, key));
    if (id) vocab.mark_control(*id);
  }
  return {};
}

Result<SpecialIds> SpecialIds::create(const Gguf& file, const Vocab& vocab, const SpecialDefaults& defaults) {
  SpecialIds out;
  for (const auto& [key, value] : file.metadata()) {
    if (is_id_key(key)) GAINZ_TRY(read_id(file, vocab, key).status());
  }
  GAINZ_ASSIGN(out.bos, read_id(file, vocab, "tokenizer.ggml.bos_token_id"));
  GAINZ_ASSIGN(out.eos, read_id(file, vocab, "tokenizer.ggml.eos_token_id"));
  GAINZ_ASSIGN(out.padding, read_id(file, vocab, "tokenizer.ggml.padding_token_id"));
  GAINZ_ASSIGN(out.separator, read_id(file, vocab, "tokenizer.ggml.seperator_token_id"));  // the format's own spelling
  GAINZ_ASSIGN(const std::optional<int32_t> turn_end, read_id(file, vocab, "tokenizer.ggml.eot_token_id"));
  GAINZ_ASSIGN(const std::optional<int32_t> message_end, read_id(file, vocab, "tokenizer.ggml.eom_token_id"));
  GAINZ_ASSIGN(const std::optional<int32_t> class_id, read_id(file, vocab, "tokenizer.ggml.cls_token_id"));
  GAINZ_ASSIGN(const int32_t unknown, find_unknown(file, vocab));
  if (unknown >= 0) out.unknown = unknown;
  if (defaults.classic_ids && !out.bos && is_control(vocab, vocab.find("<s>"))) out.bos = vocab.find("<s>");
  if (defaults.classic_ids && !out.eos && is_control(vocab, vocab.find("</s>"))) out.eos = vocab.find("</s>");
  if (!out.bos) out.bos = class_id;
  if (!out.separator && defaults.adds_separator) out.separator = out.eos;

  GAINZ_ASSIGN(out.adds_bos, file.boolean_or("tokenizer.ggml.add_bos_token", defaults.adds_bos && out.bos));
  GAINZ_ASSIGN(out.adds_eos, file.boolean_or("tokenizer.ggml.add_eos_token", defaults.adds_eos && out.eos));
  GAINZ_ASSIGN(out.adds_separator, file.boolean_or("tokenizer.ggml.add_sep_token", defaults.adds_separator && out.separator));
  GAINZ_TRY(check_named(out.adds_bos, "tokenizer.ggml.add_bos_token", out.bos, "tokenizer.ggml.bos_token_id"));
  GAINZ_TRY(check_named(out.adds_eos, "tokenizer.ggml.add_eos_token", out.eos, "tokenizer.ggml.eos_token_id"));
  GAINZ_TRY(
      check_named(out.adds_separator, "tokenizer.ggml.add_sep_token", out.separator, "tokenizer.ggml.seperator_token_id"));
  if (out.adds_eos && out.adds_separator && out.eos == out.separator) out.adds_eos = false;

  GAINZ_ASSIGN(const std::string_view chat_template, file.string_or("tokenizer.chat_template", ""));
  for (const std::optional<int32_t>& id : {out.eos, turn_end, message_end}) {
    if (id) out.ends.push_back(*id);
  }
  add_template_ends(vocab, chat_template, out.ends);
  std::sort(out.ends.begin(), out.ends.end());
  out.ends.erase(std::unique(out.ends.begin(), out.ends.end()), out.ends.end());
  return out;
}

}  // namespace gainz
