// Where messages go: [log].level, format and file. No line can be forged: control characters and bytes that are not UTF-8 are
// escaped. Everything from any thread.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "config/settings.h"

namespace gainz::host {

class LogWriter;

class LogSink {
 public:
  enum class Mode : uint8_t {
    direct,     // written before write() returns
    background  // written by a thread of the sink's own (LogWriter)
  };
  static Result<std::unique_ptr<LogSink>> open(const Settings& settings, Mode mode = Mode::direct);
  ~LogSink();
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;

  void write(uint32_t level, std::string_view text);  // GAINZ_LOG_LEVEL_*
  // One line of named values, whatever the level: a JSON object, or name=value with texts quoted. The names are ours.
  void record(std::string_view what, const boost::json::object& fields);
  // Takes level and format, and opens the file anew (it may have been moved away). On a failure all stays.
  Outcome reopen(const Settings& settings);

  uint64_t num_dropped() const;  // lines, in the background mode

  // For gainz_runtime_config::log; ctx is the LogSink.
  static void hook(void* ctx, uint32_t level, const char* text);

 private:
  LogSink() = default;
  std::string head(std::string_view level) const;  // of a text line
  void put(std::string line);

  mutable std::mutex mutex_;  // guards the rest
  uint32_t level_ = 0;
  bool json_ = false;
  int fd_ = 2;  // standard error, or the file's
  std::unique_ptr<LogWriter> writer_;
};

}  // namespace gainz::host
