#include "batch/journal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "host/temp_folder.h"

namespace gainz::host {
namespace {

using test::read_file;
using test::TempFolder;

std::string line(int id) { return "{\"task_id\":" + std::to_string(id) + ",\"text\":\"\"}\n"; }

std::string sentence(const std::string& path) {
  const auto journal = Journal::open(path);
  return journal.ok() ? "" : journal.failure().sentence;
}

TEST(HostBatchJournal, RemembersWhatItHolds) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  {
    const auto journal = Journal::open(path);
    ASSERT_TRUE(journal.ok());
    EXPECT_EQ((*journal)->size(), 0U);
    EXPECT_TRUE((*journal)->add("1", line(1)).ok());
    EXPECT_TRUE((*journal)->add("2", line(2)).ok());
    EXPECT_TRUE((*journal)->holds("2"));
    EXPECT_EQ(read_file(path), line(1) + line(2)) << "there at once";
  }
  const auto again = Journal::open(path);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->size(), 2U);
  EXPECT_TRUE((*again)->holds("1"));
  EXPECT_FALSE((*again)->holds("3"));
  EXPECT_FALSE((*again)->was_torn());
}

// Cut at every byte: the whole lines stay, the torn one goes, and the file goes on right after them.
TEST(HostBatchJournal, TornAnywhere) {
  const TempFolder folder;
  const std::string whole = line(1) + line(23) + line(456);
  for (size_t size = 0; size <= whole.size(); ++size) {
    const std::string path = folder.write("out", whole.substr(0, size));
    const size_t end = size == 0 ? 0 : whole.rfind('\n', size - 1) + 1;  // npos + 1 is 0
    const auto journal = Journal::open(path);
    ASSERT_TRUE(journal.ok()) << size << ": " << journal.failure().sentence;
    EXPECT_EQ((*journal)->was_torn(), end != size) << size;
    EXPECT_TRUE((*journal)->add("9", line(9)).ok());
    EXPECT_EQ(read_file(path), whole.substr(0, end) + line(9)) << size;
  }
}

TEST(HostBatchJournal, AMachineThatFailedLeavesZeros) {
  const TempFolder folder;
  const std::string path = folder.write("out", line(1) + std::string(5000, '\0'));
  const auto journal = Journal::open(path);
  ASSERT_TRUE(journal.ok()) << journal.failure().sentence;
  EXPECT_TRUE((*journal)->was_torn());
  EXPECT_EQ(read_file(path), line(1));
}

TEST(HostBatchJournal, OtherFilesAreLeftAlone) {
  const TempFolder folder;
  for (const std::string& text : {std::string("dear diary\n"), std::string("dear diary"), line(1) + "\n",
                                  std::string("{\"task_id\":1,\"prompt\":\"a task\"}\n"), line(1) + "x"}) {
    const std::string path = folder.write("out", text);
    EXPECT_NE(sentence(path).find("no line of a batch's output"), std::string::npos) << text;
    EXPECT_EQ(read_file(path), text);
  }
  EXPECT_NE(sentence(folder.path()), "");
  EXPECT_NE(sentence("/dev/null").find("no regular file"), std::string::npos);
  EXPECT_NE(sentence(folder.file("no/such/folder")).find("cannot be opened"), std::string::npos);
}

TEST(HostBatchJournal, OneAtATime) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  const auto journal = Journal::open(path);
  ASSERT_TRUE(journal.ok());
  EXPECT_NE(sentence(path).find("another batch"), std::string::npos);
}

TEST(HostBatchJournal, OneThatIsAboutToEndIsWaitedFor) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  auto journal = Journal::open(path);
  ASSERT_TRUE(journal.ok());
  std::thread ending([held = *std::move(journal)]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    held.reset();
  });
  EXPECT_EQ(sentence(path), "");
  ending.join();
}

TEST(HostBatchJournal, AFullDiskIsToldAndTheTornLineIsCutLater) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  const pid_t child = fork();
  if (child == 0) {  // a file size limit is a disk that is full after 20 bytes; it stays with this process
    const rlimit limit{20, 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    const auto journal = Journal::open(path);
    _exit(journal.ok() && !(*journal)->add("1", line(1)).ok() ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(path), line(1).substr(0, 20));
  const auto journal = Journal::open(path);
  ASSERT_TRUE(journal.ok());
  EXPECT_TRUE((*journal)->was_torn());
  EXPECT_EQ(read_file(path), "");
}

}  // namespace
}  // namespace gainz::host
