// Task: one line of a batch file, in OpenAI's shape ({"custom_id","method","url","body"}) or the simple one
// ({"task_id","prompt", "max_tokens",...}), and what became of it. Value types; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gainz::host {

enum class TaskShape : uint8_t { openai, simple };

struct Task {
  TaskShape shape = TaskShape::simple;
  uint64_t line = 0;  // of the input, from 1
  std::string id;     // as JSON text, so that 7 and "7" differ
  std::string url;    // of the server's routes
  std::string body;   // JSON
};

// A failure is a sentence without the line's number.
Result<Task> read_task(std::string_view text, uint64_t line, size_t max_depth);

struct TaskAnswer {
  int status = 0;    // HTTP's; 0: cancelled
  std::string body;  // JSON
  std::string request_id;
};

// Lines of the output and failure files, with their ends.
std::string answer_line(const Task& task, const TaskAnswer& answer);
std::string failure_line(const Task& task, const TaskAnswer& answer, uint64_t num_attempts);
std::string bad_line(uint64_t line, std::string_view sentence);

// The id of a line of either file, as Task::id; for a line that was no task "#LINE". "": it is no such line.
std::string id_of_result(std::string_view text);
std::string bad_line_id(uint64_t line);

}  // namespace gainz::host
