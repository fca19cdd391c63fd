#include "batch/task.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace gainz::host {
namespace {

constexpr size_t kDepth = 16;

Task good(std::string_view text) {
  Result<Task> task = read_task(text, 3, kDepth);
  EXPECT_TRUE(task.ok()) << text << ": " << (task.ok() ? "" : task.failure().sentence);
  return task.ok() ? *std::move(task) : Task{};
}

std::string refusal(std::string_view text) {
  const Result<Task> task = read_task(text, 3, kDepth);
  EXPECT_FALSE(task.ok()) << text;
  return task.ok() ? "" : task.failure().sentence;
}

TEST(HostBatchTask, Simple) {
  const Task task = good(R"({"task_id":7,"prompt":"Hello","max_tokens":5})");
  EXPECT_EQ(task.shape, TaskShape::simple);
  EXPECT_EQ(task.id, "7");
  EXPECT_EQ(task.line, 3U);
  EXPECT_EQ(task.url, "/generate");
  EXPECT_EQ(boost::json::parse(task.body), (boost::json::value{{"prompt", "Hello"}, {"max_tokens", 5}}));
}

TEST(HostBatchTask, OpenAi) {
  const Task task = good(R"({"custom_id":"7","method":"POST","url":"/v1/completions","body":{"prompt":"x"}})");
  EXPECT_EQ(task.shape, TaskShape::openai);
  EXPECT_EQ(task.id, "\"7\"") << "the text 7 is not the number 7";
  EXPECT_EQ(task.url, "/v1/completions");
  EXPECT_EQ(task.body, R"({"prompt":"x"})");
}

TEST(HostBatchTask, Refused) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", ""},
      {"[]", ""},
      {R"({"task_id":1} x)", ""},
      {R"({"prompt":"x"})", "task_id"},
      {R"({"task_id":null,"prompt":"x"})", "task_id"},
      {R"({"task_id":1.5,"prompt":"x"})", "task_id"},
      {R"({"task_id":[1],"prompt":"x"})", "task_id"},
      {R"({"custom_id":true,"url":"/generate","body":{}})", "custom_id"},
      {R"({"custom_id":"a","body":{}})", "url"},
      {R"({"custom_id":"a","url":"/generate"})", "body"},
      {R"({"custom_id":"a","url":"/generate","body":[]})", "body"},
      {R"({"custom_id":"a","method":"GET","url":"/health","body":{}})", "method"},
      {R"({"custom_id":"a","url":"/generate","body":{},"extra":1})", "extra"},
  };
  for (const auto& [text, word] : kCases)
    EXPECT_NE(refusal(text).find(word), std::string::npos) << text << ": " << refusal(text);
  EXPECT_NE(refusal(R"({"task_id":1,"prompt":)" + std::string(kDepth + 1, '[') + std::string(kDepth + 1, ']') + "}"), "");
  EXPECT_NE(refusal("{\"task_id\":1,\"prompt\":\"\xFF\"}"), "");
}

TEST(HostBatchTask, AnswerLines) {
  const Task simple = good(R"({"task_id":"a\nb","prompt":"x"})");
  EXPECT_EQ(answer_line(simple, {200, R"({"text":"t","completion_tokens":2})", "r"}),
            R"({"task_id":"a\nb","text":"t","completion_tokens":2})"
            "\n");
  const Task openai = good(R"({"custom_id":"c","url":"/v1/completions","body":{}})");
  EXPECT_EQ(
      answer_line(openai, {200, R"({"object":"o"})", "r"}),
      R"({"id":"batch_r","custom_id":"c","response":{"status_code":200,"request_id":"r","body":{"object":"o"}},"error":null})"
      "\n");
}

TEST(HostBatchTask, FailureLines) {
  const Task task = good(R"({"task_id":1,"prompt":"x"})");
  EXPECT_EQ(failure_line(task, {400, R"({"error":{"message":"no"}})", "r"}, 2),
            R"({"task_id":1,"line":3,"attempts":2,"status_code":400,"error":{"message":"no"}})"
            "\n");
  EXPECT_EQ(failure_line(task, {500, "no JSON", "r"}, 1),
            R"({"task_id":1,"line":3,"attempts":1,"status_code":500,"error":"no JSON"})"
            "\n");
}

// Every line that is written is known again by the next run.
TEST(HostBatchTask, LinesAreKnownAgain) {
  for (const char* text : {R"({"task_id":7,"prompt":"x"})", R"({"task_id":"7","prompt":"x"})",
                           R"({"custom_id":"\u00e9 \"","url":"/generate","body":{}})", R"({"task_id":-1,"prompt":"x"})",
                           R"({"task_id":18446744073709551615,"prompt":"x"})"}) {
    const Task task = good(text);
    const TaskAnswer answer{200, R"({"text":"t"})", "r"};
    EXPECT_EQ(id_of_result(answer_line(task, answer)), task.id) << text;
    EXPECT_EQ(id_of_result(failure_line(task, {400, R"({"error":"e"})", "r"}, 1)), task.id) << text;
  }
  EXPECT_EQ(id_of_result(bad_line(12, "why")), bad_line_id(12));
}

TEST(HostBatchTask, TasksAreNoResults) {
  EXPECT_EQ(id_of_result(R"({"task_id":7,"prompt":"x"})"), "");
  EXPECT_EQ(id_of_result(R"({"custom_id":"7","method":"POST","url":"/generate","body":{}})"), "");
  EXPECT_EQ(id_of_result("dear diary"), "");
  EXPECT_EQ(id_of_result(""), "");
}

}  // namespace
}  // namespace gainz::host
