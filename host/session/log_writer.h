// LogWriter: lines to a file descriptor from a thread of its own, so that a full disk, a slow terminal or a pipe that nobody
// reads holds up no one who logs. At most kMaxQueuedBytes wait; what comes beyond is dropped, counted and told by a line of its
// own. Owner: LogSink. Threads: put() and use() from any.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace gainz::host {

class LogWriter {
 public:
  static constexpr size_t kMaxQueuedBytes = 1 << 20;
  static constexpr int kLastWordsMs = 500;  // what the destructor waits for lines that wait

  explicit LogWriter(int fd);  // not owned; a pipe or terminal is written in pieces that do not wait
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  void put(std::string_view line);  // with its end
  // From the next line on. The old one is no longer used once this returns.
  void use(int fd);
  uint64_t num_dropped() const;

 private:
  void run();
  bool write_some(std::string& text);  // false: the descriptor takes nothing now

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::string queued_;
  uint64_t num_dropped_ = 0, num_untold_ = 0;
  bool is_ending_ = false;

  std::mutex fd_mutex_;  // held while the descriptor is used
  int fd_;
  std::thread thread_;
};

}  // namespace gainz::host
