#include "base/process.h"

#include <gmock/gmock.h>

#include <chrono>

namespace gainz::host {
namespace {

TEST(HostProcess, GivesStatusAndBothOutputs) {
  const auto end = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"}, {}, {});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(end->output, "out\nerr\n");
}

TEST(HostProcess, ArgumentsAreNotAShellsWords) {
  const auto end = run_program({"printf", "%s|", "a b", "$HOME", ";exit"}, {}, {});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->output, "a b|$HOME|;exit|");
}

TEST(HostProcess, EnvironmentIsReplaced) {
  const auto end = run_program({"sh", "-c", "echo $HOME $GAINZ_TEST_X"}, {"HOME=/there", "GAINZ_TEST_X=1"}, {});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->output, "/there 1\n");
}

TEST(HostProcess, AMissingProgramIsNamed) {
  const auto end = run_program({"gainz-no-such-program"}, {}, {});
  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.failure().sentence,
              testing::AllOf(testing::HasSubstr("gainz-no-such-program"), testing::HasSubstr("No such file")));
}

TEST(HostProcess, ALongOutputKeepsItsEnd) {
  const auto end = run_program({"sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x; echo last"}, {}, {});
  ASSERT_TRUE(end.ok());
  EXPECT_LE(end->output.size(), kMaxOutputBytes);
  EXPECT_THAT(end->output, testing::EndsWith("xlast\n"));
}

TEST(HostProcess, TickEndsItWithItsChildren) {
  const auto start = std::chrono::steady_clock::now();
  const auto end = run_program({"sh", "-c", "sleep 30 & sleep 30"}, {}, [] { return false; });
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_code, 128 + 15);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace gainz::host
