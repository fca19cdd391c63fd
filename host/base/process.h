// Runs another program, without a shell. One thread at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace gainz::host {

struct ProgramEnd {
  int exit_code;       // 128 + the signal's number if a signal ended it
  std::string output;  // the last kMaxOutputBytes of standard output and error together
};
inline constexpr size_t kMaxOutputBytes = 1 << 16;

// arguments[0] is looked up on PATH. extra_environment: "NAME=value" lines that replace those of this process. `tick` runs
// about ten times a second; false ends the program (SIGTERM). Standard input is empty.
Result<ProgramEnd> run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& extra_environment,
                               const std::function<bool()>& tick);

}  // namespace gainz::host
