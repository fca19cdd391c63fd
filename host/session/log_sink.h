// Where messages of the runtime go: [log].level, format and file. write() from any thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string_view>

#include "config/settings.h"

namespace gainz::host {

class LogSink {
 public:
  static Result<std::unique_ptr<LogSink>> open(const Settings& settings);
  ~LogSink();
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;

  void write(uint32_t level, std::string_view text);  // GAINZ_LOG_LEVEL_*
  // For gainz_runtime_config::log; ctx is the LogSink.
  static void hook(void* ctx, uint32_t level, const char* text);

 private:
  LogSink() = default;
  std::mutex mutex_;
  uint32_t level_ = 0;
  bool json_ = false;
  std::FILE* file_ = nullptr;  // nullptr: standard error
};

}  // namespace gainz::host
