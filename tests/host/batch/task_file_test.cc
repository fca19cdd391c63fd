#include "batch/task_file.h"

#include <gtest/gtest.h>

#include "host/temp_folder.h"

namespace gainz::host {
namespace {

using test::TempFolder;

constexpr size_t kLineBytes = 100, kDepth = 16;

std::string sentence(const std::string& path) {
  const auto file = TaskFile::open(path, kLineBytes, kDepth);
  return file.ok() ? "" : file.failure().sentence;
}

TEST(HostBatchTaskFile, TasksAndBadLinesInOrder) {
  const TempFolder folder;
  const std::string path =
      folder.write("in", "{\"task_id\":1,\"prompt\":\"a\"}\r\n\n  \nnonsense\n{\"task_id\":2,\"prompt\":\"b\"}");
  const auto file = TaskFile::open(path, kLineBytes, kDepth);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->num_tasks(), 3U);
  const auto first = (*file)->next(), second = (*file)->next(), third = (*file)->next();
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(std::get<Task>(*first).id, "1");
  EXPECT_EQ(std::get<BadLine>(*second).line, 4U);
  EXPECT_EQ(std::get<Task>(*third).line, 5U) << "empty lines count, and the last one needs no end";
  EXPECT_FALSE((*file)->next());
  EXPECT_FALSE((*file)->next());
}

TEST(HostBatchTaskFile, LongLinesAreBadAlone) {
  const TempFolder folder;
  const std::string line = "{\"task_id\":1,\"prompt\":\"\"}";
  const std::string fits = "{\"task_id\":1,\"prompt\":\"" + std::string(kLineBytes - line.size(), 'x') + "\"}\n";
  const std::string longer = "{\"task_id\":2,\"prompt\":\"" + std::string(kLineBytes - line.size() + 1, 'x') + "\"}\n";
  const auto file = TaskFile::open(folder.write("in", fits + longer + "{\"task_id\":3}\n"), kLineBytes, kDepth);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(std::holds_alternative<Task>(*(*file)->next()));
  const auto bad = (*file)->next();
  EXPECT_NE(std::get<BadLine>(*bad).sentence.find("limit of 100 bytes"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<Task>(*(*file)->next())) << "what follows is read";
}

TEST(HostBatchTaskFile, SameIdTwiceNamesBothLines) {
  const TempFolder folder;
  const std::string path = folder.write(
      "in", "{\"task_id\":\"a\"}\n{\"task_id\":\"b\"}\n\n{\"custom_id\":\"a\",\"url\":\"/generate\",\"body\":{}}\n");
  EXPECT_NE(sentence(path).find("in:4: the id \"a\" is also that of line 1"), std::string::npos) << sentence(path);
  EXPECT_EQ(sentence(folder.write("in", "{\"task_id\":7}\n{\"task_id\":\"7\"}\n")), "") << "a number is no text";
}

TEST(HostBatchTaskFile, NoFile) {
  const TempFolder folder;
  EXPECT_NE(sentence(folder.file("none")).find("none"), std::string::npos);
  EXPECT_NE(sentence(folder.path()).find("no regular file"), std::string::npos);
  EXPECT_NE(sentence("/dev/null").find("no regular file"), std::string::npos);
  EXPECT_EQ(sentence(folder.write("empty", "")), "");
}

}  // namespace
}  // namespace gainz::host
