#include "batch/task_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "base/text.h"

namespace gainz::host {

Result<std::unique_ptr<TaskFile>> TaskFile::open(const std::string& path, size_t max_line_bytes, size_t max_depth) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Failure{fmt::format("{}: {}", printable(path), std::strerror(errno))};
  if (!S_ISREG(info.st_mode))
    return Failure{fmt::format("{}: is no regular file; a batch reads its input twice", printable(path))};
  std::unique_ptr<TaskFile> out(new TaskFile(path, max_line_bytes, max_depth));
  if (!out->file_) return Failure{fmt::format("{}: {}", printable(path), std::strerror(errno))};
  std::unordered_map<std::string, uint64_t> lines;
  while (std::optional<TaskLine> line = out->next()) {
    ++out->num_tasks_;
    const auto* task = std::get_if<Task>(&*line);
    if (task == nullptr) continue;
    const auto [entry, is_new] = lines.emplace(task->id, task->line);
    if (!is_new)
      return Failure{fmt::format("{}:{}: the id {} is also that of line {}; ids must differ", printable(path), task->line,
                                 printable(task->id), entry->second)};
  }
  out->file_.clear();
  out->file_.seekg(0);
  out->line_ = 0;
  return out;
}

// At most max_line_bytes are kept of a line.
bool TaskFile::read_line(std::string& out) {
  out.clear();
  is_too_long_ = false;
  int c = file_.get();
  if (c == std::ifstream::traits_type::eof()) return false;
  for (; c != '\n' && c != std::ifstream::traits_type::eof(); c = file_.get()) {
    if (out.size() < max_line_bytes_) {
      out += static_cast<char>(c);
    } else {
      is_too_long_ = true;
    }
  }
  ++line_;
  return true;
}

std::optional<TaskLine> TaskFile::next() {
  std::string text;
  while (read_line(text)) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (is_too_long_) return BadLine{line_, fmt::format("the line is longer than the limit of {} bytes", max_line_bytes_)};
    Result<Task> task = read_task(text, line_, max_depth_);
    if (!task.ok()) return BadLine{line_, task.failure().sentence};
    return *std::move(task);
  }
  return std::nullopt;
}

}  // namespace gainz::host
