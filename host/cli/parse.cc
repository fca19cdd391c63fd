#include "cli/parse.h"

#include <fmt/format.h>
#include <gainz/gainz.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

#include "base/text.h"

namespace gainz::host {
namespace {

constexpr uint32_t kMaxStreams = 1024;
constexpr uint32_t kMaxRepeats = 1000;
constexpr size_t kMaxListItems = 32;
constexpr double kMaxBias = 1e6;

// One option that takes one text. `take` answers "" or what is wrong with it. Repeated: only where `many` says so.
using Take = std::function<std::string(const std::string&)>;
CLI::Option* add_text(CLI::App& app, const std::string& names, const std::string& about, Take take, bool many = false) {
  const std::string shown = names.substr(names.find("--") == std::string::npos ? 0 : names.find("--"));
  CLI::Option* option = app.add_option(
      names,
      [take = std::move(take), shown](const CLI::results_t& texts) {
        for (const std::string& text : texts) {
          if (const std::string wrong = take(text); !wrong.empty()) throw CLI::ValidationError(shown, wrong);
        }
        return true;
      },
      about);
  option->expected(1)->allow_extra_args(false);
  if (many) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return option;
}

template <class T>
Take into(T& target, int64_t least, int64_t most) {
  return [&target, least, most](const std::string& text) -> std::string {
    const std::optional<int64_t> value = parse_integer(text);
    if (!value || *value < least || *value > most)
      return fmt::format("must be an integer from {} to {}, not \"{}\"", least, most, printable(text));
    target = static_cast<T>(*value);
    return "";
  };
}

Take into_list(std::vector<uint32_t>& target, uint32_t least, uint32_t most) {
  return [&target, least, most](const std::string& text) -> std::string {
    target.clear();
    for (size_t begin = 0; begin <= text.size();) {
      const size_t comma = std::min(text.find(',', begin), text.size());
      const auto value = parse_integer(std::string_view(text).substr(begin, comma - begin));
      if (!value || *value < least || *value > most || target.size() == kMaxListItems) {
        return fmt::format("must be at most {} integers from {} to {} with commas between, not \"{}\"", kMaxListItems, least,
                           most, printable(text));
      }
      target.push_back(static_cast<uint32_t>(*value));
      begin = comma + 1;
    }
    return "";
  };
}

template <class T>
Take into_text(T& target) {
  return [&target](const std::string& text) {
    target = text;
    return std::string();
  };
}

std::string take_logit_bias(const std::string& text, RunOptions& run) {
  const size_t equals = std::min(text.find('='), text.size());
  const auto id = parse_integer(std::string_view(text).substr(0, equals));
  const auto bias = equals < text.size() ? parse_number(std::string_view(text).substr(equals + 1)) : std::nullopt;
  const double value = bias.value_or(2 * kMaxBias);
  if (!id || *id < 0 || *id > INT32_MAX || value < -kMaxBias || value > kMaxBias) {
    return fmt::format("must be TOKEN_ID=NUMBER, as in 42=-1.5, not \"{}\"", printable(text));
  }
  run.logit_bias.emplace_back(static_cast<int32_t>(*id), static_cast<float>(value));
  return "";
}

std::string first_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

// The settings' own flags, from the table. Their values are checked later, with the environment and the file.
void add_setting_flags(CLI::App& app, Options& options, std::string_view section) {
  for (size_t i = 0; i < kNumKeys; ++i) {
    const Key& key = kSchema[i];
    if (key.flag.empty() || key.section != section) continue;
    const std::string flag = long_flag(key);
    const std::string about = fmt::format("{} [{}]", first_line(key.doc), toml_value(default_value(key)));
    add_text(app, std::string(key.flag), about,
             [&options, i, flag](const std::string& text) {
               options.flags.push_back({i, text, flag});
               return std::string();
             })
        ->group(section == "sampling" ? "Sampling"
                : section == "server" ? "Server"
                : section == "log"    ? "Messages"
                                      : "Settings");
  }
}

void add_common(CLI::App& app, Options& options) {
  add_text(app, "--config", "TOML file instead of gainz/gainz.toml in the user's configuration folder",
           into_text(options.config_path))
      ->group("Settings");
  add_setting_flags(app, options, "log");
}

void add_json(CLI::App& app, Options& options) { app.add_flag("--json", options.json, "The result as JSON"); }

void add_run(CLI::App& app, Options& options) {
  RunOptions& run = options.run;
  add_text(app, "-m,--model", "Model: a path, a name in the models folder, or a [[model]]'s name", into_text(options.model));
  add_text(app, "-p,--prompt", "One prompt; without it a chat", into_text(run.prompt));
  add_text(app, "--system", "System prompt of the chat", into_text(run.system));
  app.add_flag("--raw", run.raw, "The prompt as it is, without the model's chat template");
  app.add_flag("--parse-special", run.parse_special,
               "With --raw: spellings of control tokens in the prompt become these tokens");
  add_json(app, options);
  add_setting_flags(app, options, "");
  add_setting_flags(app, options, "sampling");
  const auto add = [&](const char* names, const char* about, Take take, bool many = false) {
    add_text(app, names, about, std::move(take), many)->group("Sampling");
  };
  add("--seed", "The same seed gives the same answer; without it one is drawn and told",
      [&run](const std::string& text) -> std::string {
        run.seed = parse_unsigned(text);
        return run.seed ? "" : fmt::format("must be an integer from 0 to 18446744073709551615, not \"{}\"", printable(text));
      });
  add(
      "--stop", "Text that ends the answer and is not part of it; may be given again",
      [&run](const std::string& text) -> std::string {
        if (text.empty()) return "must not be empty";
        run.stop.push_back(text);
        return "";
      },
      true);
  add(
      "--stop-token-id", "Token id that ends the answer; may be given again",
      [&run](const std::string& text) -> std::string { return into(run.stop_token_ids.emplace_back(), 0, INT32_MAX)(text); },
      true);
  add(
      "--logit-bias", "TOKEN_ID=NUMBER, added to this token's logit; may be given again",
      [&run](const std::string& text) { return take_logit_bias(text, run); }, true);
  app.add_flag("--ignore-eos", run.ignore_eos, "Go on after the model's end token")->group("Sampling");
  add("--logprobs", "With --json: log-probabilities of each token and of the N best", into(run.logprobs, 0, 1024));
}

void add_bench(CLI::App& app, Options& options) {
  BenchOptions& bench = options.bench;
  add_text(app, "-m,--model", "Model: a path, a name in the models folder, or a [[model]]'s name", into_text(options.model));
  add_text(app, "-p,--prompt-tokens", "Tokens of a prompt; 0: no prefill [512]", into(bench.prompt_tokens, 0, 1 << 24));
  add_text(app, "-n,--decode-tokens", "Tokens to generate for each stream, at least 2; 0: no decode [128]",
           [&bench](const std::string& text) -> std::string {
             if (text == "1") return "must be 0 or at least 2: the time between tokens is measured";
             return into(bench.decode_tokens, 0, 1 << 24)(text);
           });
  add_text(app, "--streams", "Numbers of requests at once, a list [1,4,16]", into_list(bench.streams, 1, kMaxStreams));
  add_text(app, "--depth", "Tokens in the context before the measurement, a list [0]", into_list(bench.depths, 0, 1 << 24));
  add_text(app, "-r,--repeats", "Measurements of each; the median counts [3]", into(bench.num_repeats, 1, kMaxRepeats));
  add_text(app, "--baseline", "Earlier JSON: exit 1 if a median is lower than there by more than --band",
           into_text(bench.baseline));
  add_text(app, "--plot", "SVG file: tokens/s over streams and over depth", into_text(bench.plot));
  add_text(app, "--band", "Part of the baseline's median that is still the same [0.1]",
           [&bench](const std::string& text) -> std::string {
             const auto value = parse_number(text);
             if (!value || *value < 0 || *value >= 1)
               return fmt::format("must be a number from 0 to below 1, not \"{}\"", printable(text));
             bench.band = *value;
             return "";
           });
  add_json(app, options);
  add_setting_flags(app, options, "");
}

void add_serve(CLI::App& app, Options& options) {
  add_text(app, "-m,--model", "Model to serve alone: a path, a name in the models folder, or a [[model]]'s name",
           into_text(options.model));
  add_text(app, "--name", "What clients call it; without it the file's name without .gguf",
           [&options](const std::string& text) -> std::string {
             options.serve.name = text;
             return text.empty() ? "must not be empty" : "";
           });
  add_setting_flags(app, options, "");
  add_setting_flags(app, options, "server");
}

void add_batch(CLI::App& app, Options& options) {
  BatchOptions& batch = options.batch;
  add_text(app, "input", "JSON lines: tasks in OpenAI's batch shape, or {\"task_id\",\"prompt\",\"max_tokens\"}",
           into_text(batch.input))
      ->required();
  add_text(app, "-o,--output", "JSON lines of the answers; a file that is there is gone on with", into_text(batch.output))
      ->required();
  add_text(app, "--failures", "JSON lines of the tasks that failed, and why [OUTPUT.failures]", into_text(batch.failures));
  add_text(app, "-m,--model", "Model: a path, a name in the models folder, or a [[model]]'s name", into_text(options.model));
  add_text(app, "--name", "What the tasks call it; without it the file's name without .gguf", into_text(batch.name));
  add_text(app, "--retries", "Of a failure that may pass, such as a timeout [2]", into(batch.num_retries, 0, 100));
  add_text(app, "--timeout", "Seconds for one attempt at a task; 0: any time [0]", into(batch.timeout_seconds, 0, 86400));
  add_setting_flags(app, options, "");
}

struct Command {
  const char* name;
  const char* about;
  void (*add)(CLI::App&, Options&);
};

constexpr Command kCommands[] = {
    {"run", "Answer one prompt, or chat", add_run},
    {"serve", "Serve models over HTTP: the APIs of OpenAI and Ollama", add_serve},
    {"batch", "Answer the tasks of a file", add_batch},
    {"bench", "Measure speed beside the machine's limits", add_bench},
    {"devices", "List plugins and devices",
     [](CLI::App& app, Options& options) {
       add_json(app, options);
       add_setting_flags(app, options, "");
     }},
    {"pull", "Fetch a known model into the models folder; without a name list them",
     [](CLI::App& app, Options& options) { add_text(app, "name", "Name of a known model", into_text(options.model)); }},
    {"list", "List the models folder", add_json},
    {"inspect", "Show what a model file holds",
     [](CLI::App& app, Options& options) {
       add_text(app, "file", "A path or a name in the models folder", into_text(options.model))->required();
       add_json(app, options);
     }},
    {"config", "Show the settings in effect and where each comes from",
     [](CLI::App& app, Options& options) {
       add_json(app, options);
       app.add_flag("--example", options.example, "Print a file with every setting, its default and meaning");
       add_setting_flags(app, options, "");
       add_setting_flags(app, options, "sampling");
     }},
};

std::string one_sentence(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return printable(first_line(text));
}

Failure unknown_command(std::string_view word) {
  std::vector<std::string_view> names;
  std::string list;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", command.name);
  }
  const std::string_view near = nearest(word, names);
  const std::string hint = near.empty() ? "the commands are " + list : fmt::format("did you mean \"{}\"?", near);
  return Failure{fmt::format("unknown command \"{}\"; {}", printable(word), hint), kExitUsage};
}

}  // namespace

Result<std::variant<Options, Help>> parse_command_line(int argc, const char* const* argv) {
  Options options;
  CLI::App app("gainz: local language models", "gainz");
  app.set_version_flag("--version", GAINZ_VERSION);
  app.require_subcommand(1);
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.about);
    command.add(*sub, options);
    add_common(*sub, options);
  }
  if (argc < 2) return std::variant<Options, Help>(Help{app.help()});
  if (argv[1][0] != '-') {
    const auto known = [&](const Command& command) { return std::string_view(command.name) == argv[1]; };
    if (std::none_of(std::begin(kCommands), std::end(kCommands), known)) return unknown_command(argv[1]);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    return std::variant<Options, Help>(Help{chosen.empty() ? app.help() : chosen[0]->help()});
  } catch (const CLI::CallForVersion&) {
    return std::variant<Options, Help>(Help{fmt::format("gainz {}\n", GAINZ_VERSION)});
  } catch (const CLI::ParseError& error) {
    return Failure{one_sentence(error.what()), kExitUsage};
  }
  options.command = app.get_subcommands()[0]->get_name();
  return std::variant<Options, Help>(std::move(options));
}

}  // namespace gainz::host
