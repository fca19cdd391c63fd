// gainz run: one prompt or a chat. The answer goes to standard output as it comes, everything else to standard error.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/answering.h"
#include "cli/commands.h"
#include "config/speculation.h"
#include "models/model_folder.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

// Options that would have no effect are wrong usage, not ignored.
Outcome check_usage(const Options& options) {
  const RunOptions& run = options.run;
  const auto wrong = [](const char* sentence) { return Failure{sentence, kExitUsage}; };
  if (options.json && !run.prompt) return wrong("--json needs a prompt (-p)");
  if (run.raw && !run.prompt) return wrong("--raw needs a prompt (-p)");
  if (run.raw && run.system) return wrong("--raw has no place for --system: the chat template is skipped");
  if (run.parse_special && !run.raw) return wrong("--parse-special needs --raw: text of a chat never becomes a control token");
  if (run.logprobs >= 0 && !options.json) return wrong("--logprobs needs --json");
  return Done{};
}

json::object as_json(const TokenLogprob& token) {
  json::array top;
  for (const gainz_token_logprob& other : token.top) top.push_back(json::object{{"id", other.id}, {"logprob", other.logprob}});
  return {{"id", token.id}, {"text", valid_utf8(token.text)}, {"logprob", token.logprob}, {"top", top}};
}

std::string as_json(const Answer& answer, const gainz_model_info& info, bool with_logprobs) {
  const auto per_second = [](double tokens, double seconds) {
    return seconds > 0 && tokens > 0 ? json::value(tokens / seconds) : json::value();
  };
  json::object root;
  root["text"] = valid_utf8(answer.text);
  root["ids"] = json::array(answer.ids.begin(), answer.ids.end());
  root["finish_reason"] = answer.finish_reason;
  root["usage"] = {{"prompt_tokens", answer.num_prompt_tokens},
                   {"completion_tokens", answer.num_generated_tokens},
                   {"cached_tokens", answer.num_cached_tokens}};
  root["timings"] = {
      {"load_seconds", info.load_seconds},
      {"queue_seconds", answer.queue_seconds},
      {"prefill_seconds", answer.prefill_seconds},
      {"decode_seconds", answer.decode_seconds},
      {"prompt_tokens_per_second",
       per_second(static_cast<double>(answer.num_prompt_tokens) - answer.num_cached_tokens, answer.prefill_seconds)},
      {"tokens_per_second", per_second(static_cast<double>(answer.num_generated_tokens) - 1, answer.decode_seconds)}};
  json::object drafted, accepted;
  for (size_t kind = 0; kind < GAINZ_NUM_DRAFT_KINDS; ++kind) {
    if (answer.num_drafted[kind] == 0) continue;
    drafted[kDraftKinds[kind]] = answer.num_drafted[kind];
    accepted[kDraftKinds[kind]] = answer.num_accepted[kind];
  }
  root["speculation"] = {{"drafted", drafted}, {"accepted", accepted}};
  root["device"] = valid_utf8(info.device);
  root["isa"] = valid_utf8(info.isa);
  root["backend"] = valid_utf8(info.backend);
  root["model"] = valid_utf8(info.path);
  root["context"] = info.context;
  root["seed"] = answer.seed;
  root["scalar_operations"] = info.num_scalar_nodes;
  if (with_logprobs) {
    json::array tokens;
    for (const TokenLogprob& token : answer.logprobs) tokens.push_back(as_json(token));
    root["logprobs"] = tokens;
  }
  return json_text(root) + '\n';
}

Outcome one_prompt(Session& session, const Settings& settings, const Options& options) {
  const RunOptions& run = options.run;
  AnswerRequest request(session, settings, run);
  std::vector<Message> messages;
  if (run.system) messages.push_back({"system", *run.system});
  messages.push_back({"user", *run.prompt});
  const std::string chat_text = messages_json(messages);
  if (run.raw) {
    request.config().prompt = run.prompt->data();
    request.config().prompt_bytes = run.prompt->size();
    if (run.parse_special) request.config().flags |= GAINZ_REQUEST_PARSE_SPECIAL;
  } else {
    request.config().messages_json = chat_text.c_str();
  }
  const Result<Answer> answer = generate(session, request.config(), [&](std::string_view text) {
    if (!options.json) write_output(text);
  });
  if (!answer.ok()) return answer.failure();
  write_output(options.json ? as_json(*answer, session.info(), run.logprobs >= 0) : "\n");
  say(dim(timing_line(*answer)));
  if (answer->finish_reason == "cancelled") return Failure{"cancelled"};
  return Done{};
}

}  // namespace

Outcome run_command(const Options& options) {
  if (Outcome usage = check_usage(options); !usage.ok()) return usage;
  const Result<Settings> settings = settings_of(options);
  if (!settings.ok()) return settings.failure();
  const Result<ChosenModel> chosen = choose_model(*settings, options.environment, options.model);
  if (!chosen.ok()) return chosen.failure();
  Result<std::unique_ptr<Session>> session = Session::open(chosen->settings);
  if (!session.ok()) return session.failure();
  const bool is_default = chosen->settings.at(key("max_sequences")).source == Source::standard;
  const auto for_one = [&](gainz_model_config& config) {
    if (is_default) config.max_sequences = 1;  // a conversation is all there is
  };
  if (Outcome loaded = (*session)->load(chosen->path, chosen->settings, for_one); !loaded.ok()) return loaded;
  const gainz_model_info& info = (*session)->info();
  say(dim(model_line(info)));
  if (info.has_chat_template == 0 && !options.run.raw) {
    return Failure{fmt::format("{} has no chat template; --raw with -p gives it a plain text", printable(chosen->path))};
  }
  return options.run.prompt ? one_prompt(**session, chosen->settings, options) : chat(**session, chosen->settings, options.run);
}

}  // namespace gainz::host
