#include "session/log_writer.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace gainz::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStepMs = 50;
constexpr size_t kPieceBytes = PIPE_BUF;  // a pipe that polls as writable takes so much without waiting

}  // namespace

LogWriter::LogWriter(int fd) : fd_(fd), thread_([this] { run(); }) {}

LogWriter::~LogWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LogWriter::put(std::string_view line) {
  {
    const std::lock_guard lock(mutex_);
    if (queued_.size() + line.size() > kMaxQueuedBytes) {
      ++num_dropped_, ++num_untold_;
      return;
    }
    if (num_untold_ > 0) {
      queued_ += "gainz: " + std::to_string(num_untold_) + " log lines were dropped: the log is read or written too slowly\n";
      num_untold_ = 0;
    }
    queued_ += line;
  }
  wake_.notify_one();
}

void LogWriter::use(int fd) {
  const std::lock_guard lock(fd_mutex_);
  fd_ = fd;
}

uint64_t LogWriter::num_dropped() const {
  const std::lock_guard lock(mutex_);
  return num_dropped_;
}

bool LogWriter::write_some(std::string& text) {
  const std::lock_guard lock(fd_mutex_);
  pollfd ready = {fd_, POLLOUT, 0};
  if (poll(&ready, 1, kStepMs) <= 0 || (ready.revents & POLLOUT) == 0) {
    if ((ready.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) text.clear();  // nobody will ever read it
    return false;
  }
  const ssize_t written = write(fd_, text.data(), std::min(text.size(), kPieceBytes));
  if (written < 0 && errno != EAGAIN && errno != EINTR) text.clear();  // a full disk: these lines are lost, the server is not
  if (written > 0) text.erase(0, static_cast<size_t>(written));
  return written > 0;
}

void LogWriter::run() {
  std::string text;
  Clock::time_point last_word = Clock::time_point::max();
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (text.empty()) wake_.wait(lock, [&] { return is_ending_ || !queued_.empty(); });
      if (is_ending_ && last_word == Clock::time_point::max()) {
        last_word = Clock::now() + std::chrono::milliseconds(kLastWordsMs);
      }
      if (text.empty()) text.swap(queued_);
      if (is_ending_ && text.empty()) return;
    }
    write_some(text);
    if (Clock::now() > last_word) return;
  }
}

}  // namespace gainz::host
