// The gainz program: one command a word. Exit status 0, 1 for a failure with a sentence on standard error, 2 for wrong usage.
#include <fmt/format.h>

#include <exception>
#include <new>

#include "cli/commands.h"
#include "cli/parse.h"
#include "terminal/interrupt.h"
#include "terminal/terminal.h"

extern char** environ;

namespace gainz::host {
namespace {

struct Command {
  const char* name;
  Outcome (*run)(const Options&);
};

constexpr Command kCommands[] = {
    {"run", run_command},     {"serve", serve_command},     {"batch", batch_command},
    {"bench", bench_command}, {"devices", devices_command}, {"pull", pull_command},
    {"list", list_command},   {"inspect", inspect_command}, {"config", config_command},
};

Outcome run_main(int argc, char** argv) {
  Result<std::variant<Options, Help>> parsed = parse_command_line(argc, argv);
  if (!parsed.ok()) return parsed.failure();
  if (const Help* help = std::get_if<Help>(&*parsed)) {
    write_output(help->text);
    return argc < 2 ? Outcome(Failure{"a command is needed", kExitUsage}) : flush_output();
  }
  Options& options = std::get<Options>(*parsed);
  options.environment = environment_of(environ);
  install_interrupt_handler();
  for (const Command& command : kCommands) {
    if (options.command != command.name) continue;
    Outcome outcome = command.run(options);
    return outcome.ok() ? flush_output() : outcome;
  }
  return Failure{fmt::format("the command {} has no code", options.command)};
}

Outcome run_guarded(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::bad_alloc&) {
    return Failure{"there is not enough memory"};
  } catch (const std::exception& error) {
    return Failure{error.what()};
  }
}

}  // namespace
}  // namespace gainz::host

int main(int argc, char** argv) {
  const gainz::host::Outcome outcome = gainz::host::run_guarded(argc, argv);
  if (outcome.ok()) return gainz::host::kExitOk;
  gainz::host::say("gainz: " + outcome.failure().sentence);
  return outcome.failure().exit_code;
}
