// From the command line to Options; the only place that knows CLI11. One thread.
#pragma once

#include <string>
#include <variant>

#include "cli/options.h"

namespace gainz::host {

struct Help {  // --help or --version: text for standard output, exit 0
  std::string text;
};

// Wrong usage is a Failure with exit status 2 and one sentence.
Result<std::variant<Options, Help>> parse_command_line(int argc, const char* const* argv);

}  // namespace gainz::host
