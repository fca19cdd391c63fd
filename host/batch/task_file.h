// TaskFile: the input of a batch, line by line, checked as a whole before the first task: ids must differ. Owner: the batch.
// One thread.
#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "batch/task.h"

namespace gainz::host {

struct BadLine {
  uint64_t line;
  std::string sentence;
};
using TaskLine = std::variant<Task, BadLine>;

class TaskFile {
 public:
  // Reads it once: the same id twice is a failure that names both lines. Empty lines are passed over.
  static Result<std::unique_ptr<TaskFile>> open(const std::string& path, size_t max_line_bytes, size_t max_depth);

  std::optional<TaskLine> next();                  // nothing: the end
  size_t num_tasks() const { return num_tasks_; }  // and bad lines

 private:
  TaskFile(std::string path, size_t max_line_bytes, size_t max_depth)
      : path_(std::move(path)), max_line_bytes_(max_line_bytes), max_depth_(max_depth), file_(path_, std::ios::binary) {}
  bool read_line(std::string& out);

  std::string path_;
  size_t max_line_bytes_, max_depth_;
  std::ifstream file_;
  uint64_t line_ = 0;
  bool is_too_long_ = false;
  size_t num_tasks_ = 0;
};

}  // namespace gainz::host
