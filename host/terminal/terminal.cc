#include "terminal/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gainz::host {
namespace {

std::string styled(std::string_view text, const char* code) {
  const char* no_color = std::getenv("NO_COLOR");
  if (!stderr_is_terminal() || (no_color != nullptr && *no_color != '\0')) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace

bool stderr_is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (term == nullptr || std::strcmp(term, "dumb") != 0);
}
bool stdin_is_terminal() { return isatty(STDIN_FILENO) == 1; }
std::string dim(std::string_view text) { return styled(text, "2"); }
std::string bold(std::string_view text) { return styled(text, "1"); }

void say(std::string_view line) {
  const std::string whole = std::string(line) + '\n';
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

void write_output(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

Outcome flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return Done{};
  return Failure{
      fmt::format("cannot write to standard output: {}", errno != 0 ? std::strerror(errno) : "an earlier write failed")};
}

}  // namespace gainz::host
