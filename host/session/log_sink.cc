#include "session/log_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gainz/gainz.h>
#include <time.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "base/json_text.h"
#include "base/text.h"
#include "session/log_writer.h"

namespace gainz::host {
namespace {

constexpr const char* kLevels[] = {"error", "warning", "info", "debug"};
static_assert(GAINZ_LOG_LEVEL_ERROR == 0 && GAINZ_LOG_LEVEL_DEBUG == 3);

constexpr int kNone = 2;  // standard error: not ours to close

std::string utc_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char text[32];
  const size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", std::string_view(text, length), now.tv_nsec / 1000000);
}

uint32_t level_of(const Settings& settings) {
  const std::string& level = settings.text(key("log.level"));
  for (uint32_t i = 0; i < std::size(kLevels); ++i) {
    if (level == kLevels[i]) return i;
  }
  return 0;
}

Result<int> open_log(const Settings& settings) {
  const std::string& path = settings.text(key("log.file"));
  if (path.empty()) return kNone;
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
  if (fd < 0) return Failure{fmt::format("log file {}: {}", printable(path), std::strerror(errno))};
  return fd;
}

void close_log(int fd) {
  if (fd != kNone) ::close(fd);
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // a full disk: the line is lost, nothing else
    text.remove_prefix(static_cast<size_t>(written));
  }
}

std::string shown(const boost::json::value& value) {
  const auto* text = value.if_string();
  if (text == nullptr) return json_text(value);
  std::string out = "\"";
  for (const char c : printable(*text)) out += c == '"' ? std::string("\\\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

Result<std::unique_ptr<LogSink>> LogSink::open(const Settings& settings, Mode mode) {
  std::unique_ptr<LogSink> sink(new LogSink());
  const Result<int> fd = open_log(settings);
  if (!fd.ok()) return fd.failure();
  sink->fd_ = *fd;
  sink->level_ = level_of(settings);
  sink->json_ = settings.text(key("log.format")) == "json";
  if (mode == Mode::background) sink->writer_ = std::make_unique<LogWriter>(sink->fd_);
  return sink;
}

LogSink::~LogSink() {
  writer_.reset();
  close_log(fd_);
}

Outcome LogSink::reopen(const Settings& settings) {
  const Result<int> fd = open_log(settings);
  if (!fd.ok()) return fd.failure();
  const std::lock_guard lock(mutex_);
  level_ = level_of(settings);
  json_ = settings.text(key("log.format")) == "json";
  if (writer_) writer_->use(*fd);
  close_log(std::exchange(fd_, *fd));
  return Done{};
}

uint64_t LogSink::num_dropped() const { return writer_ ? writer_->num_dropped() : 0; }

std::string LogSink::head(std::string_view level) const {
  return fd_ != kNone || writer_ ? fmt::format("{} {}: ", utc_now(), level) : fmt::format("{}: ", level);
}

void LogSink::put(std::string line) {
  line += '\n';
  if (writer_) {
    writer_->put(line);
  } else {
    write_all(fd_, line);
  }
}

void LogSink::write(uint32_t level, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (level > level_) return;
  const char* name = kLevels[std::min<uint32_t>(level, std::size(kLevels) - 1)];
  if (json_) {
    put(json_text(boost::json::object{{"time", utc_now()}, {"level", name}, {"message", valid_utf8(text)}}));
  } else {
    put(head(name) + printable(text));
  }
}

void LogSink::record(std::string_view what, const boost::json::object& fields) {
  const std::lock_guard lock(mutex_);
  if (json_) {
    boost::json::object line{{"time", utc_now()}, {"level", "info"}, {"message", what}};
    for (const auto& field : fields) line.insert(field);
    return put(json_text(line));
  }
  std::string line = head(what);
  bool is_first = true;
  for (const auto& field : fields) {
    line +=
        fmt::format("{}{}={}", std::exchange(is_first, false) ? "" : " ", std::string_view(field.key()), shown(field.value()));
  }
  put(std::move(line));
}

void LogSink::hook(void* ctx, uint32_t level, const char* text) {
  try {
    static_cast<LogSink*>(ctx)->write(level, text != nullptr ? text : "");
  } catch (...) {  // no memory for a message: the message is lost, nothing else
  }
}

}  // namespace gainz::host
