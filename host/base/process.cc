#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

extern char** environ;

namespace gainz::host {
namespace {

constexpr int kTickMs = 100;

std::vector<char*> environment_with(const std::vector<std::string>& extra) {
  std::vector<char*> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('=') + 1);
    bool replaced = false;
    for (const std::string& text : extra) replaced |= text.starts_with(name);
    if (!replaced) all.push_back(*entry);
  }
  for (const std::string& text : extra) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// Starts the program with both outputs on `write_end`; its own process group, so that a Ctrl-C is ours to handle.
int start(const std::vector<std::string>& arguments, const std::vector<std::string>& extra, int write_end, pid_t* out_pid) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> env = environment_with(extra);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, write_end, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = posix_spawnp(out_pid, argv[0], &actions, &attributes, argv.data(), env.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Reads until the program closes its outputs or `tick` says no.
void follow(int read_end, pid_t pid, const std::function<bool()>& tick, std::string& output) {
  char buffer[4096];
  bool asked_to_end = false;
  for (;;) {
    pollfd waiting{read_end, POLLIN, 0};
    const int ready = poll(&waiting, 1, kTickMs);
    if (!asked_to_end && tick && !tick()) {
      kill(-pid, SIGTERM);
      asked_to_end = true;
    }
    if (ready <= 0) continue;
    const ssize_t got = read(read_end, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return;
    output.append(buffer, static_cast<size_t>(got));
    if (output.size() > kMaxOutputBytes) output.erase(0, output.size() - kMaxOutputBytes);
  }
}

}  // namespace

Result<ProgramEnd> run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& extra_environment,
                               const std::function<bool()>& tick) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failure{fmt::format("cannot make a pipe: {}", std::strerror(errno))};
  pid_t pid = 0;
  const int error = start(arguments, extra_environment, ends[1], &pid);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return Failure{fmt::format("cannot run {}: {}", printable(arguments[0]), std::strerror(error))};
  }
  ProgramEnd end{};
  follow(ends[0], pid, tick, end.output);
  close(ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

}  // namespace gainz::host
