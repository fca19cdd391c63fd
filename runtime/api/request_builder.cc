// Turns a caller's gainz_request_config into a checked, tokenized Request. Runs on the caller's thread, so that the engine
// never waits for a tokenizer or a template.
#include <algorithm>
#include <cmath>

#include "api/runtime.h"
#include "engine/active.h"
#include "sampler/limits.h"

namespace gainz {
namespace {

constexpr size_t kMaxPromptBytes = size_t{64} << 20;
constexpr size_t kMaxSaltBytes = 256;

// What a limit says of the whole array, before anything of it is read.
Status check_array(const char* field, const void* array, size_t count, size_t limit) {
  if (count > 0 && !array)
    return {Code::invalid, std::string("sampling.") + field + " is NULL although it has " + std::to_string(count) + " entries"};
  if (count > limit)
    return {Code::limit_exceeded, std::string(field) + " has " + std::to_string(count) + " entries, at most " +
                                      std::to_string(limit) + " are allowed"};
  return {};
}

// A chat as ids, begun as the model wants it where the template did not do so itself.
Result<std::vector<int32_t>> chat_ids(const LoadedModel& model, const gainz_request_config& c) {
  GAINZ_ASSIGN(const RenderedText rendered, render_chat(model, c.messages_json, c.tools_json, c.vars_json, true));
  GAINZ_ASSIGN(std::vector<int32_t> ids, encode_rendered(*model.tokenizer, rendered));
  const auto bos = model.tokenizer->bos();
  if (model.tokenizer->adds_bos() && bos && (ids.empty() || ids[0] != *bos)) ids.insert(ids.begin(), *bos);
  return ids;
}

Status too_long(size_t num_tokens, size_t context, bool generates) {
  return {Code::limit_exceeded, "the prompt has " + std::to_string(num_tokens) + " tokens, the context " +
                                    std::to_string(context) + (generates ? " for prompt and answer" : "")};
}

Status check_ids(const LoadedModel& model, const char* what, std::span<const int32_t> ids) {
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || uint32_t(ids[i]) >= model.info.vocab_size)
      return {Code::invalid, std::string(what) + " id " + std::to_string(ids[i]) + " at " + std::to_string(i) +
                                 " is not in the vocabulary of " + std::to_string(model.info.vocab_size)};
  return {};
}

Result<std::vector<int32_t>> prompt_ids(const LoadedModel& model, const gainz_request_config& c) {
  const int num_forms = (c.prompt_ids != nullptr) + (c.prompt != nullptr) + (c.messages_json != nullptr);
  if (num_forms != 1)
    return Status(Code::invalid,
                  "exactly one of prompt_ids, prompt and messages_json must be given, not " + std::to_string(num_forms));
  if (c.messages_json) return chat_ids(model, c);
  if (c.tools_json || c.vars_json)
    return Status(Code::invalid, std::string(c.tools_json ? "tools_json" : "vars_json") + " is only for messages_json");
  if (c.prompt) {
    if (c.prompt_bytes > kMaxPromptBytes)
      return Status(Code::limit_exceeded,
                    "the prompt has " + std::to_string(c.prompt_bytes) + " bytes, at most " + std::to_string(kMaxPromptBytes));
    return model.tokenizer->encode(std::string_view(c.prompt, c.prompt_bytes), (c.flags & GAINZ_REQUEST_PARSE_SPECIAL) != 0,
                                   (c.flags & GAINZ_REQUEST_NO_BOS) == 0);
  }
  if (c.num_prompt_ids > model.info.context) return too_long(c.num_prompt_ids, model.info.context, false);
  std::vector<int32_t> ids(c.prompt_ids, c.prompt_ids + c.num_prompt_ids);
  GAINZ_TRY(check_ids(model, "prompt", ids));
  return ids;
}

// A prediction longer than the answer can be is fine: what is beyond is never reached.
Status read_prediction(const LoadedModel& model, const gainz_request_config& c, Request& r) {
  if (!c.prediction && !c.prediction_ids) return {};
  if (c.prediction && c.prediction_ids) return {Code::invalid, "only one of prediction and prediction_ids may be given"};
  if (r.kind != GAINZ_REQUEST_GENERATE) return {Code::invalid, "prediction is only for requests that generate"};
  if (c.prediction) {
    if (c.prediction_bytes > kMaxPromptBytes)
      return {Code::limit_exceeded, "the prediction has " + std::to_string(c.prediction_bytes) + " bytes, at most " +
                                        std::to_string(kMaxPromptBytes)};
    GAINZ_ASSIGN(r.prediction, model.tokenizer->encode(std::string_view(c.prediction, c.prediction_bytes), false, false));
    return {};
  }
  if (c.num_prediction_ids > kMaxPromptBytes)
    return {Code::limit_exceeded,
            "the prediction has " + std::to_string(c.num_prediction_ids) + " ids, at most " + std::to_string(kMaxPromptBytes)};
  r.prediction.assign(c.prediction_ids, c.prediction_ids + c.num_prediction_ids);
  return check_ids(model, "prediction", r.prediction);
}

Status read_kind(const gainz_request_config& c, Request& r) {
  r.kind = c.kind;
  if (c.kind > GAINZ_REQUEST_LOGITS) return {Code::invalid, "request kind " + std::to_string(c.kind) + " is unknown"};
  if (c.pooling > GAINZ_POOLING_LAST) return {Code::invalid, "pooling " + std::to_string(c.pooling) + " is unknown"};
  r.pooling = c.pooling;
  if (c.prompt_logprobs < -1 || c.prompt_logprobs > kMaxNumLogprobs)
    return {Code::invalid, "prompt_logprobs is " + std::to_string(c.prompt_logprobs) + ", it must be -1 to " +
                               std::to_string(kMaxNumLogprobs)};
  r.prompt_logprobs = c.prompt_logprobs;
  if (c.kind != GAINZ_REQUEST_GENERATE && c.prompt_logprobs >= 0)
    return {Code::invalid, "prompt_logprobs is only for requests that generate; max_tokens 0 makes none"};
  if (c.kind != GAINZ_REQUEST_LOGITS) {
    if (c.num_positions != 0) return {Code::invalid, "positions is only for requests for logits"};
    if (c.num_generated_ids != 0) return {Code::invalid, "num_generated_ids is only for requests for logits"};
    return {};
  }
  if (!c.positions || c.num_positions == 0) return {Code::invalid, "a request for logits needs positions"};
  if (c.num_positions > r.prompt.size())
    return {Code::invalid, "positions has " + std::to_string(c.num_positions) + " entries, there are only " +
                               std::to_string(r.prompt.size()) + " ids"};
  r.positions.assign(c.positions, c.positions + c.num_positions);
  for (size_t i = 0; i < r.positions.size(); ++i)
    if (r.positions[i] >= r.prompt.size() || (i > 0 && r.positions[i] <= r.positions[i - 1]))
      return {Code::invalid, "positions must rise and stay below the number of ids, " + std::to_string(r.prompt.size()) +
                                 "; position " + std::to_string(i) + " is " + std::to_string(r.positions[i])};
  if (c.num_generated_ids >= r.prompt.size())
    return {Code::invalid, "num_generated_ids must be less than the number of ids, " + std::to_string(r.prompt.size())};
  r.num_generated_ids = uint32_t(c.num_generated_ids);
  return {};
}

}  // namespace

Status read_speculation(const gainz_speculation& s, gainz_speculation& out) {
  if (s.struct_size == 0) return {};
  if (s.struct_size != sizeof(s))
    return {Code::invalid,
            "speculation.struct_size is " + std::to_string(s.struct_size) + ", here it is " + std::to_string(sizeof(s))};
  if (s.mode > GAINZ_SPECULATION_FIXED) return {Code::invalid, "speculation.mode " + std::to_string(s.mode) + " is unknown"};
  if (s.kinds >> GAINZ_NUM_DRAFT_KINDS)
    return {Code::invalid, "speculation.kinds has unknown bits: " + std::to_string(s.kinds)};
  if (s.depth > GAINZ_MAX_DRAFT_TOKENS)
    return {Code::limit_exceeded,
            "speculation.depth is " + std::to_string(s.depth) + ", at most " + std::to_string(GAINZ_MAX_DRAFT_TOKENS)};
  if (s.mode == GAINZ_SPECULATION_DEFAULT) {
    if (s.kinds != 0 || s.depth != 0) return {Code::invalid, "speculation has kinds or depth, but mode DEFAULT"};
    return {};
  }
  out = s;
  if (s.mode == GAINZ_SPECULATION_FIXED && s.depth == 0) out.mode = GAINZ_SPECULATION_OFF;
  return {};
}

Result<SamplingParams> read_sampling(const gainz_sampling& s, uint32_t vocab_size) {
  if (s.struct_size != sizeof(gainz_sampling))
    return Status(Code::invalid, "sampling.struct_size is " + std::to_string(s.struct_size) + ", here it is " +
                                     std::to_string(sizeof(gainz_sampling)) + "; call gainz_sampling_init first");
  SamplingParams p;
  p.temperature = s.temperature;
  p.top_k = s.top_k;
  p.top_p = s.top_p;
  p.min_p = s.min_p;
  p.typical_p = s.typical_p;
  p.repetition_penalty = s.repetition_penalty;
  p.presence_penalty = s.presence_penalty;
  p.frequency_penalty = s.frequency_penalty;
  p.seed = s.seed;
  p.min_tokens = s.min_tokens;
  p.ignore_eos = s.ignore_eos != 0;
  p.logprobs = s.logprobs;
  GAINZ_TRY(check_array("logit_bias", s.logit_bias, s.num_logit_bias, vocab_size));
  GAINZ_TRY(check_array("stop", s.stop, s.num_stop, kMaxNumStopStrings));
  GAINZ_TRY(check_array("stop_token_ids", s.stop_token_ids, s.num_stop_token_ids, kMaxNumStopTokenIds));
  for (size_t i = 0; i < s.num_logit_bias; ++i) p.logit_bias.emplace_back(s.logit_bias[i].id, s.logit_bias[i].bias);
  p.stop_token_ids.assign(s.stop_token_ids, s.stop_token_ids + s.num_stop_token_ids);
  GAINZ_TRY(p.validate(int32_t(vocab_size)));
  if (s.max_tokens < -1)
    return Status(Code::invalid, "max_tokens is " + std::to_string(s.max_tokens) + ", it must be -1 or more");
  if (s.max_tokens >= 0 && s.min_tokens > s.max_tokens)
    return Status(Code::invalid, "min_tokens is " + std::to_string(s.min_tokens) + ", it must be at most max_tokens, " +
                                     std::to_string(s.max_tokens));
  if (!s.has_seed) {
    GAINZ_ASSIGN(p.seed, random_u64());
  }
  return p;
}

Result<std::vector<int32_t>> encode_rendered(const Tokenizer& tokenizer, const RenderedText& rendered) {
  std::vector<TextPiece> pieces;
  const std::string_view text = rendered.text;
  size_t done = 0;
  for (const auto& [begin, end] : rendered.user_spans) {
    if (begin > done) pieces.push_back({text.substr(done, begin - done), true});
    pieces.push_back({text.substr(begin, end - begin), false});
    done = end;
  }
  if (done < text.size()) pieces.push_back({text.substr(done), true});
  return tokenizer.encode(pieces, false);
}

Result<RenderedText> render_chat(const LoadedModel& model, const char* messages_json, const char* tools_json,
                                 const char* vars_json, bool add_generation_prompt) {
  if (!messages_json) return Status(Code::invalid, "messages_json is NULL");
  if (!model.template_status.ok()) return model.template_status;
  if (!model.chat_template) return Status(Code::unsupported, "the model has no chat template; give it a plain prompt");
  RenderInput input;
  input.messages_json = messages_json;
  input.tools_json = tools_json ? tools_json : "";
  input.vars_json = vars_json ? vars_json : "";
  input.add_generation_prompt = add_generation_prompt;
  input.bos_token = model.bos_text;
  input.eos_token = model.eos_text;
  return model.chat_template->render(input);
}

Result<Request> build_request(const LoadedModel& model, const gainz_request_config& c) {
  constexpr uint32_t kKnownFlags = GAINZ_REQUEST_NO_CACHE | GAINZ_REQUEST_PARSE_SPECIAL | GAINZ_REQUEST_NO_BOS;
  if (c.flags & ~kKnownFlags) return Status(Code::invalid, "flags has unknown bits: " + std::to_string(c.flags));
  Request r;
  r.user = c.user;
  r.submitted_us = now_us();
  GAINZ_ASSIGN(r.sampling, read_sampling(c.sampling, model.info.vocab_size));
  r.max_tokens = c.sampling.max_tokens;
  for (size_t i = 0; i < c.sampling.num_stop; ++i) {
    if (!c.sampling.stop[i]) return Status(Code::invalid, "stop " + std::to_string(i) + " is NULL");
    r.stops.emplace_back(c.sampling.stop[i]);
  }
  GAINZ_TRY(StopMatcher::validate(r.stops));
  r.priority = c.priority;
  r.use_cache = (c.flags & GAINZ_REQUEST_NO_CACHE) == 0;
  r.salt = c.cache_salt ? c.cache_salt : "";
  if (r.salt.size() > kMaxSaltBytes)
    return Status(Code::limit_exceeded,
                  "cache_salt has " + std::to_string(r.salt.size()) + " bytes, at most " + std::to_string(kMaxSaltBytes));
  r.preempt_after = c.preempt_after;
  r.speculation = model.speculation;
  GAINZ_TRY(read_speculation(c.speculation, r.speculation));
  if (c.timeout_ms != 0) r.deadline_us = r.submitted_us + uint64_t{c.timeout_ms} * 1000;
  GAINZ_ASSIGN(r.prompt, prompt_ids(model, c));
  if (r.prompt.empty()) return Status(Code::invalid, "the prompt is empty");
  GAINZ_TRY(read_kind(c, r));
  GAINZ_TRY(read_prediction(model, c, r));
  const size_t context = model.info.context, n = r.prompt.size();
  const bool generates = r.kind == GAINZ_REQUEST_GENERATE && r.max_tokens != 0;
  if (n + (generates ? 1 : 0) > context) return too_long(n, context, generates);
  return r;
}

}  // namespace gainz
