#include "session/log_sink.h"

#include <fmt/format.h>
#include <gainz/gainz.h>
#include <time.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "base/json_text.h"
#include "base/text.h"

namespace gainz::host {
namespace {

constexpr const char* kLevels[] = {"error", "warning", "info", "debug"};
static_assert(GAINZ_LOG_LEVEL_ERROR == 0 && GAINZ_LOG_LEVEL_DEBUG == 3);

std::string utc_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char text[32];
  const size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", std::string_view(text, length), now.tv_nsec / 1000000);
}

}  // namespace

Result<std::unique_ptr<LogSink>> LogSink::open(const Settings& settings) {
  std::unique_ptr<LogSink> sink(new LogSink());
  const std::string& level = settings.text(key("log.level"));
  for (uint32_t i = 0; i < std::size(kLevels); ++i) {
    if (level == kLevels[i]) sink->level_ = i;
  }
  sink->json_ = settings.text(key("log.format")) == "json";
  const std::string& path = settings.text(key("log.file"));
  if (!path.empty()) {
    sink->file_ = std::fopen(path.c_str(), "ae");
    if (sink->file_ == nullptr) return Failure{fmt::format("log file {}: {}", printable(path), std::strerror(errno))};
  }
  return sink;
}

LogSink::~LogSink() {
  if (file_ != nullptr) std::fclose(file_);
}

void LogSink::write(uint32_t level, std::string_view text) {
  if (level > level_) return;
  const char* name = kLevels[std::min<uint32_t>(level, std::size(kLevels) - 1)];
  std::string line;
  if (json_) {
    line = json_text(boost::json::object{{"time", utc_now()}, {"level", name}, {"message", valid_utf8(text)}});
  } else {
    line = file_ != nullptr ? fmt::format("{} {}: {}", utc_now(), name, printable(text))
                            : fmt::format("{}: {}", name, printable(text));
  }
  line += '\n';
  const std::lock_guard lock(mutex_);
  std::FILE* out = file_ != nullptr ? file_ : stderr;
  std::fwrite(line.data(), 1, line.size(), out);
  std::fflush(out);
}

void LogSink::hook(void* ctx, uint32_t level, const char* text) {
  try {
    static_cast<LogSink*>(ctx)->write(level, text != nullptr ? text : "");
  } catch (...) {  // no memory for a message: the message is lost, nothing else
  }
}

}  // namespace gainz::host
