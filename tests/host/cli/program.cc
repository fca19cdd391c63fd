#include "host/cli/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "support/tiny_model.h"

namespace gainz::test {
namespace {

constexpr int kDeadlineMs = 120000;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0); }
  ~Pipe() { close_end(0), close_end(1); }
  void close_end(int i) {
    if (ends[i] >= 0) close(ends[i]);
    ends[i] = -1;
  }
};

[[noreturn]] void become(const std::vector<std::string>& arguments, const std::vector<std::string>& variables, int in, int out,
                         int err) {
  dup2(in, 0), dup2(out, 1), dup2(err, 2);
  std::vector<char*> argv, env;
  for (const std::string& text : arguments) argv.push_back(const_cast<char*>(text.c_str()));
  for (const std::string& text : variables) env.push_back(const_cast<char*>(text.c_str()));
  argv.push_back(nullptr), env.push_back(nullptr);
  signal(SIGPIPE, SIG_DFL);
  execve(argv[0], argv.data(), env.data());
  _exit(126);
}

}  // namespace

Program::Program() {
  std::filesystem::create_directory(folder_.file("models"));
  EXPECT_TRUE(write_tiny_model(model(), {}));
}

ProgramRun Program::run(const std::vector<std::string>& arguments, const std::string& input) {
  return start(arguments, &input, {});
}
ProgramRun Program::run_interrupted(const std::vector<std::string>& arguments, const std::vector<std::string>& needles) {
  return start(arguments, nullptr, needles);
}

ProgramRun Program::start(const std::vector<std::string>& arguments, const std::string* input,
                          const std::vector<std::string>& needles) {
  std::vector<std::string> all = {GAINZ_BUILD_DIR "/bin/gainz"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<std::string> env = {"HOME=" + folder_.file("home"), "GAINZ_MODELS=" + folder_.file("models")};
  for (const char* name : {"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) env.push_back(std::string(name) + "=" + value);
  }
  env.insert(env.end(), variables.begin(), variables.end());
  Pipe in, out, err;
  const pid_t pid = fork();
  if (pid == 0) become(all, env, in.ends[0], out.ends[1], err.ends[1]);
  in.close_end(0), out.close_end(1), err.close_end(1);
  if (input != nullptr) {  // small enough for the pipe
    EXPECT_EQ(write(in.ends[1], input->data(), input->size()), static_cast<ssize_t>(input->size()));
    in.close_end(1);
  }
  ProgramRun result{-1, "", ""};
  size_t needle = 0, seen_out = 0, seen_err = 0;
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    pollfd waiting[2] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}};
    if (poll(waiting, 2, kDeadlineMs) <= 0) {
      ADD_FAILURE() << "the program hangs";
      kill(pid, SIGKILL);
      break;
    }
    const auto drain = [&](const pollfd& ready, Pipe& from, std::string& into) {
      char buffer[4096];
      if (ready.revents == 0) return;
      const ssize_t got = read(from.ends[0], buffer, sizeof buffer);
      if (got > 0) into.append(buffer, static_cast<size_t>(got));
      if (got <= 0) from.close_end(0);
    };
    drain(waiting[0], out, result.out);
    drain(waiting[1], err, result.err);
    while (needle < needles.size()) {
      const size_t in_out = result.out.find(needles[needle], seen_out), in_err = result.err.find(needles[needle], seen_err);
      if (in_out == std::string::npos && in_err == std::string::npos) break;
      seen_out = result.out.size(), seen_err = result.err.size();
      ++needle;
      kill(pid, SIGINT);
    }
  }
  int status = 0;
  waitpid(pid, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace gainz::test
