// Journal: the output of a batch as a file that only grows: one line for each finished task, in the order they finish. A line
// is written at once and counts when its end is there, so that a program killed at any moment loses nothing it said and,
// started again, does nothing twice. What was written is on the disk (fdatasync) at least every kSyncSeconds and at the end;
// only a machine that fails can lose more. Owner: the batch. One thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/result.h"

namespace gainz::host {

class Journal {
 public:
  static constexpr int kSyncSeconds = 1;
  static constexpr int kLockSeconds = 2;  // how long another batch may take to end

  // Opens or makes the file, locks it against another batch, cuts off a last line without its end, and reads the ids of the
  // others. A line that is no result of a batch is a failure: it is not this program's file.
  static Result<std::unique_ptr<Journal>> open(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  bool holds(const std::string& id) const { return ids_.contains(id); }
  size_t size() const { return ids_.size(); }
  bool was_torn() const { return was_torn_; }
  Outcome add(const std::string& id, std::string_view line);
  Outcome sync();

 private:
  Journal(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  Outcome read_ids();

  std::string path_;
  int fd_;
  bool was_torn_ = false;
  std::unordered_set<std::string> ids_;
  std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
};

}  // namespace gainz::host
