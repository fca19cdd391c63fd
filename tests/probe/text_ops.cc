#include "probe/probe.h"

namespace gainz::probe {

Status tokenize(Session& session, Fields& fields, json::object& answer) {
  std::string model, text;
  bool parse_special = false, add_special = false;
  GAINZ_TRY(fields.string("model", model));
  GAINZ_TRY(fields.string("text", text));
  GAINZ_TRY(fields.boolean("parse_special", parse_special));
  GAINZ_TRY(fields.boolean("add_special", add_special));
  GAINZ_TRY(fields.unknown());
  GAINZ_ASSIGN(const auto tokenizer, session.tokenizer(model));
  GAINZ_ASSIGN(const auto ids, tokenizer->encode(text, parse_special, add_special));
  answer["ids"] = to_json(ids);
  return {};
}

Status detokenize(Session& session, Fields& fields, json::object& answer) {
  std::string model;
  std::vector<int32_t> ids;
  bool skip_special = false;
  GAINZ_TRY(fields.string("model", model));
  GAINZ_TRY(fields.ids("ids", ids));
  GAINZ_TRY(fields.boolean("skip_special", skip_special));
  GAINZ_TRY(fields.unknown());
  GAINZ_ASSIGN(const auto tokenizer, session.tokenizer(model));
  GAINZ_ASSIGN(const std::string text, tokenizer->decode(ids, skip_special));
  answer["text"] = text;
  json::array pieces;
  StreamDecoder decoder(tokenizer, skip_special);
  for (const int32_t id : ids) pieces.push_back(json::value(decoder.push(id)));
  if (const std::string tail = decoder.finish(); !tail.empty()) pieces.push_back(json::value(tail));
  answer["pieces"] = std::move(pieces);
  return {};
}

Status render(Session& session, Fields& fields, json::object& answer) {
  std::string source, model, messages, tools, vars, bos, eos;
  RenderInput input;
  GAINZ_TRY(fields.string("template", source));
  GAINZ_TRY(fields.string("model", model));
  GAINZ_TRY(fields.json_text("messages", messages));
  GAINZ_TRY(fields.json_text("tools", tools));
  GAINZ_TRY(fields.json_text("vars", vars));
  GAINZ_TRY(fields.boolean("add_generation_prompt", input.add_generation_prompt));
  std::shared_ptr<const Tokenizer> tokenizer;
  if (!model.empty()) {
    GAINZ_ASSIGN(tokenizer, session.tokenizer(model));
    if (const auto id = tokenizer->bos()) bos = tokenizer->token_text(*id);
    if (const auto id = tokenizer->eos()) eos = tokenizer->token_text(*id);
  }
  GAINZ_TRY(fields.string("bos_token", bos));
  GAINZ_TRY(fields.string("eos_token", eos));
  if (fields.has("now")) {
    int64_t now = 0;
    GAINZ_TRY(fields.integer("now", now));
    input.now_unix_s = now;
  }
  GAINZ_TRY(fields.unknown());
  if (source.empty() == model.empty()) return {Code::invalid, "exactly one of template and model must be given"};
  if (source.empty()) {
    GAINZ_ASSIGN(const auto file, session.metadata(model));
    GAINZ_ASSIGN(const std::string_view text, file->string("tokenizer.chat_template"));
    source = text;
  }
  GAINZ_ASSIGN(const auto chat_template, session.chat_template(source));
  if (messages.empty()) messages = "[]";
  input.messages_json = messages;
  input.tools_json = tools;
  input.vars_json = vars;
  input.bos_token = bos;
  input.eos_token = eos;
  GAINZ_ASSIGN(const RenderedText rendered, chat_template->render(input));
  answer["text"] = rendered.text;
  if (!tokenizer) return {};
  GAINZ_ASSIGN(const auto ids, encode_rendered(*tokenizer, rendered));
  answer["ids"] = to_json(ids);
  json::array spans;
  for (const auto& [begin, end] : rendered.user_spans) spans.push_back(json::array{begin, end});
  answer["user_spans"] = std::move(spans);
  return {};
}

}  // namespace gainz::probe
