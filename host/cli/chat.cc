// The interactive chat of `gainz run`.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "cli/answering.h"
#include "terminal/interrupt.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

constexpr size_t kMaxLineBytes = 1 << 24;
constexpr int kPollMs = 100;

constexpr std::string_view kHelp =
    "/system TEXT  set the system prompt and begin anew\n"
    "/clear        forget the conversation\n"
    "/help         this list\n"
    "/exit         end (also Ctrl-D)\n"
    "Ctrl-C stops an answer; while no answer runs it ends the chat";

enum class Input { line, end, interrupted, failed };

// Lines of standard input, read so that a Ctrl-C is seen at once.
class LineReader {
 public:
  Input next(std::string& out_line) {
    for (;;) {
      if (const size_t newline = pending_.find('\n'); newline != std::string::npos) {
        out_line = pending_.substr(0, newline);
        pending_.erase(0, newline + 1);
        if (out_line.ends_with('\r')) out_line.pop_back();
        return Input::line;
      }
      if (pending_.size() > kMaxLineBytes) return errno = E2BIG, Input::failed;
      if (num_interrupts() > 0) return Input::interrupted;
      pollfd waiting{STDIN_FILENO, POLLIN, 0};  // with a time limit: a signal just before the call does not end it
      if (poll(&waiting, 1, kPollMs) <= 0) continue;
      char buffer[4096];
      const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Input::failed;
      if (got == 0 && pending_.empty()) return Input::end;
      pending_.append(got == 0 ? std::string_view("\n") : std::string_view(buffer, static_cast<size_t>(got)));
    }
  }

 private:
  std::string pending_;
};

class Chat {
 public:
  Chat(Session& session, const Settings& settings, const RunOptions& options)
      : session_(session), settings_(settings), options_(options) {
    system_ = options.system.value_or("");
    clear();
  }

  Outcome run() {
    say(dim("/help lists the commands"));
    for (std::string line;;) {
      if (stdin_is_terminal()) fmt::print(stderr, "{}", bold("> "));
      switch (reader_.next(line)) {
        case Input::line:
          break;
        case Input::end:
          return Done{};
        case Input::interrupted:
          return say(""), Done{};
        case Input::failed:
          return Failure{fmt::format("cannot read standard input: {}", std::strerror(errno))};
      }
      if (line.starts_with('/')) {
        if (!command(line)) return Done{};
      } else if (line.find_first_not_of(" \t") != std::string::npos) {
        if (Outcome answered = answer(line); !answered.ok()) return answered;
      }
    }
  }

 private:
  void clear() {
    messages_.clear();
    if (!system_.empty()) messages_.push_back({"system", system_});
  }

  // False: the chat ends.
  bool command(const std::string& line) {
    const std::string name = line.substr(0, line.find(' '));
    const std::string rest = name.size() < line.size() ? line.substr(name.size() + 1) : "";
    if (name == "/exit") return false;
    if (name == "/help") {
      say(kHelp);
    } else if (name == "/clear") {
      clear();
      say("the conversation is forgotten");
    } else if (name == "/system") {
      system_ = rest;
      clear();
      say(system_.empty() ? "no system prompt; the conversation begins anew"
                          : "the system prompt is set; the conversation begins anew");
    } else {
      say(fmt::format("unknown command {}; /help lists them", printable(name)));
    }
    return true;
  }

  // A failed or stopped answer takes its question out of the conversation again. On a terminal a failure is told and the chat
  // goes on; from a script it ends the program.
  Outcome answer(const std::string& question) {
    messages_.push_back({"user", question});
    AnswerRequest request(session_, settings_, options_);
    const std::string text = messages_json(messages_);
    request.config().messages_json = text.c_str();
    const Result<Answer> answer = generate(session_, request.config(), write_output);
    clear_interrupts();  // they meant this answer
    if (!answer.ok()) {
      messages_.pop_back();
      if (!stdin_is_terminal()) return answer.failure();
      say(answer.failure().sentence);
      return Done{};
    }
    write_output("\n");
    say(dim(timing_line(*answer)));
    if (answer->finish_reason == "cancelled") {
      messages_.pop_back();
    } else {
      messages_.push_back({"assistant", answer->text});
    }
    return flush_output();
  }

  Session& session_;
  const Settings& settings_;
  const RunOptions& options_;
  LineReader reader_;
  std::string system_;
  std::vector<Message> messages_;
};

}  // namespace

Outcome chat(Session& session, const Settings& settings, const RunOptions& options) {
  return Chat(session, settings, options).run();
}

}  // namespace gainz::host
