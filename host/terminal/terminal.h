// What the program writes: answers on standard output, everything else on standard error. Colours and bars only where standard
// error is a terminal that wants them (NO_COLOR unset, TERM not "dumb"). One thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gainz::host {

bool stderr_is_terminal();
bool stdin_is_terminal();
std::string dim(std::string_view text);   // for standard error
std::string bold(std::string_view text);  // for standard error

void say(std::string_view line);  // one line on standard error
// Writes and flushes; a failure (a full disk, a closed pipe) is told once by flush_output.
void write_output(std::string_view text);
Outcome flush_output();

}  // namespace gainz::host
