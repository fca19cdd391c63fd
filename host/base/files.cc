#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace gainz::host {
namespace {

std::string user_folder(const Environment& environment, const char* variable, const char* under_home) {
  if (const auto it = environment.find(variable); it != environment.end() && it->second.starts_with('/')) return it->second;
  if (const auto it = environment.find("HOME"); it != environment.end() && it->second.starts_with('/'))
    return it->second + under_home;
  return "";
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

}  // namespace

Environment environment_of(char** entries) {
  Environment environment;
  for (; entries != nullptr && *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    const size_t equals = entry.find('=');
    if (equals != std::string_view::npos) environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment;
}

Result<std::string> read_small_file(const std::string& path, size_t max_bytes) {
  const auto fail = [&](std::string_view reason) { return Failure{fmt::format("{}: {}", printable(path), reason)}; };
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file.number < 0) return fail(std::strerror(errno));
  struct stat info {};
  if (fstat(file.number, &info) != 0) return fail(std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return fail("is a folder, not a file");
  if (!S_ISREG(info.st_mode)) return fail("is not a regular file");
  const auto too_large = [&](uint64_t size_bytes) {
    return fail(fmt::format("has {} bytes, more than the limit of {}", size_bytes, max_bytes));
  };
  if (static_cast<uint64_t>(info.st_size) > max_bytes) return too_large(info.st_size);
  std::string text(static_cast<size_t>(info.st_size) + 1, '\0');
  size_t used = 0;
  for (;;) {
    const ssize_t got = read(file.number, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(std::strerror(errno));
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > max_bytes) return too_large(used);  // it grew while we read
    if (used == text.size()) text.resize(text.size() * 2);
  }
  text.resize(used);
  return text;
}

std::string user_config_folder(const Environment& environment) {
  return user_folder(environment, "XDG_CONFIG_HOME", "/.config");
}
std::string user_cache_folder(const Environment& environment) { return user_folder(environment, "XDG_CACHE_HOME", "/.cache"); }

std::string path_under(std::string_view folder, std::string_view path) {
  if (path.starts_with('/') || folder.empty()) return std::string(path);
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", path);
}

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(slash == 0 ? "/" : path.substr(0, slash));
}

std::string base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace gainz::host
