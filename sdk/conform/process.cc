#include "conform/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

namespace gainz::conform {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMaxRead = 1 << 16;  // of what a test says or a plugin prints

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe(ends) == 0) read = ends[0], write = ends[1];
  }
  ~Pipe() { close_both(); }
  Pipe(const Pipe&) = delete;
  void close_both() {
    for (int* end : {&read, &write}) {
      if (*end >= 0) close(*end);
      *end = -1;
    }
  }
};

std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

// The verdict as lines: a word, the reason, then notes.
std::string judge(const Test& test, const Subject& subject) {
  std::string out;
  Trial trial(subject);
  try {
    test.run(trial);
    out = "pass\n\n";
  } catch (const Unsupported& e) {
    out = "unsupported\n" + one_line(e.what()) + "\n";
  } catch (const std::exception& e) {
    out = "fail\n" + one_line(e.what()) + "\n";
  }
  for (const std::string& note : trial.notes) out += one_line(note) + "\n";
  return out;
}

[[noreturn]] void child(const Test& test, const Subject& subject, const Pipe& verdict, const Pipe& output) {
  dup2(output.write, STDOUT_FILENO);
  dup2(output.write, STDERR_FILENO);
  const std::string text = judge(test, subject);
  std::fflush(nullptr);  // what the plugin printed and kept
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(verdict.write, text.data() + written, text.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  // Without the destructors of libraries: they are not what is judged, and a driver's may well print.
  _exit(0);
}

// Reads both until they are closed or the time is over; false: it is.
bool read_all(int verdict, int output, Clock::time_point deadline, std::string& out_verdict, std::string& out_output) {
  pollfd ends[2] = {{verdict, POLLIN, 0}, {output, POLLIN, 0}};
  std::string* texts[2] = {&out_verdict, &out_output};
  for (int num_open = 2; num_open > 0;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    if (poll(ends, 2, static_cast<int>(left)) <= 0) continue;
    for (int i = 0; i < 2; ++i) {
      if ((ends[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      char buffer[4096];
      const ssize_t n = read(ends[i].fd, buffer, sizeof buffer);
      if (n > 0) {
        if (texts[i]->size() < kMaxRead) texts[i]->append(buffer, static_cast<size_t>(n));
      } else {
        ends[i].fd = -1;
        --num_open;
      }
    }
  }
  return true;
}

void read_verdict(const std::string& text, Result& result) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (lines.size() < 2) return;
  result.verdict = lines[0] == "pass" ? Verdict::pass : lines[0] == "unsupported" ? Verdict::unsupported : Verdict::fail;
  result.reason = lines[1];
  result.notes.assign(lines.begin() + 2, lines.end());
}

}  // namespace

Result run_apart(const Test& test, const Subject& subject) {
  Result result;
  result.test = &test;
  const uint32_t seconds = subject.seconds != 0 ? subject.seconds : test.seconds;
  Pipe verdict, output;
  std::fflush(nullptr);  // or the child would print it once more
  const auto begin = Clock::now();
  const pid_t pid = verdict.read >= 0 && output.read >= 0 ? fork() : -1;
  if (pid < 0) {
    result.reason = "the kit cannot start a process: " + std::string(std::strerror(errno));
    return result;
  }
  if (pid == 0) {
    setpgid(0, 0);
    close(verdict.read);
    close(output.read);
    child(test, subject, verdict, output);
  }
  close(verdict.write);
  close(output.write);
  verdict.write = output.write = -1;
  std::string said, printed;
  const bool ended = read_all(verdict.read, output.read, begin + std::chrono::seconds(seconds), said, printed);
  if (!ended) kill(-pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  kill(-pid, SIGKILL);  // what the plugin may have started
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  read_verdict(said, result);
  if (!ended) {
    result.verdict = Verdict::fail;
    result.reason = "not done after " + std::to_string(seconds) + " s";
  } else if (WIFSIGNALED(status)) {
    result.verdict = Verdict::fail;
    result.reason = std::string("crashed: ") + strsignal(WTERMSIG(status));
  } else if (said.empty()) {
    result.verdict = Verdict::fail;
    result.reason = "the plugin ended the process with exit status " + std::to_string(WEXITSTATUS(status));
  }
  if (!printed.empty() && result.reason.compare(0, 7, "crashed") != 0) {
    result.verdict = Verdict::fail;
    result.reason =
        "the plugin printed \"" + one_line(printed.substr(0, 80)) + "\"" + (result.reason.empty() ? "" : "; " + result.reason);
  }
  return result;
}

}  // namespace gainz::conform
