#include "batch/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/text.h"
#include "batch/task.h"

namespace gainz::host {
namespace {

constexpr size_t kReadBytes = 1 << 16;
constexpr size_t kMaxLineBytes = 1 << 28;
constexpr std::chrono::milliseconds kLockPause(10);

Failure failure(const std::string& path, const char* what) {
  return Failure{fmt::format("{}: {}: {}", printable(path), what, std::strerror(errno))};
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_APPEND, 0644);
  if (fd < 0) return failure(path, "cannot be opened");
  std::unique_ptr<Journal> out(new Journal(path, fd));
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    return Failure{fmt::format("{}: is no regular file, so a batch could not go on after a stop", printable(path))};
  // A batch that was just killed holds the lock until its memory is taken back.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(kLockSeconds);
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return failure(path, "cannot be locked");
    if (std::chrono::steady_clock::now() >= deadline)
      return Failure{fmt::format("{}: another batch is writing this file", printable(path))};
    std::this_thread::sleep_for(kLockPause);
  }
  if (Outcome read = out->read_ids(); !read.ok()) return read.failure();
  return out;
}

Journal::~Journal() { ::close(fd_); }

Outcome Journal::read_ids() {
  std::string text;
  off_t begin = 0;  // of `text` in the file
  uint64_t line = 0;
  for (;;) {
    const size_t size = text.size();
    text.resize(size + kReadBytes);
    const ssize_t num_read = pread(fd_, text.data() + size, kReadBytes, begin + static_cast<off_t>(size));
    if (num_read < 0) return failure(path_, "cannot be read");
    text.resize(size + static_cast<size_t>(num_read));
    size_t at = 0;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
      ++line;
      const std::string id = id_of_result(std::string_view(text).substr(at, end - at));
      if (id.empty())
        return Failure{fmt::format("{}:{}: is no line of a batch's output; name another file", printable(path_), line)};
      ids_.insert(id);
      at = end + 1;
    }
    text.erase(0, at);
    begin += static_cast<off_t>(at);
    if (text.size() > kMaxLineBytes)
      return Failure{fmt::format("{}:{}: is no line of a batch's output; name another file", printable(path_), line + 1)};
    if (num_read > 0) continue;
    if (text.empty()) return Done{};
    was_torn_ = true;
    if (text.front() != '{' &&
        text.front() != '\0')  // NUL: a machine that failed may leave a file longer than what was written
      return Failure{fmt::format("{}:{}: is no line of a batch's output; name another file", printable(path_), line + 1)};
    if (ftruncate(fd_, begin) != 0) return failure(path_, "its torn last line cannot be cut off");
    return Done{};
  }
}

Outcome Journal::add(const std::string& id, std::string_view line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure(path_, "cannot be written");
    rest.remove_prefix(static_cast<size_t>(written));
  }
  ids_.insert(id);
  if (std::chrono::steady_clock::now() - synced_ < std::chrono::seconds(kSyncSeconds)) return Done{};
  return sync();
}

Outcome Journal::sync() {
  synced_ = std::chrono::steady_clock::now();
  if (fdatasync(fd_) != 0) return failure(path_, "cannot be synced");
  return Done{};
}

}  // namespace gainz::host
