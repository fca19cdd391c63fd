#include <gmock/gmock.h>

#include "host/cli/program.h"

namespace gainz::test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kChat = {"run", "-m",        "tiny",      "-n", "4", "--temperature",
                                        "0",   "--backend", "reference", "-t", "1"};

size_t count(const std::string& text, const std::string& needle) {
  size_t found = 0;
  for (size_t at = text.find(needle); at != std::string::npos; at = text.find(needle, at + 1)) ++found;
  return found;
}

// The prompt tokens that each answer's line names.
std::vector<int> prompt_tokens(const std::string& err) {
  std::vector<int> counts;
  for (size_t at = err.find(" prompt tokens"); at != std::string::npos; at = err.find(" prompt tokens", at + 1)) {
    counts.push_back(std::atoi(err.c_str() + err.rfind('\n', at) + 1));
  }
  return counts;
}

TEST(CliChat, KeepsTheConversationUntilItIsCleared) {
  Program program;
  const ProgramRun run = program.run(kChat, "one\ntwo\n/clear\none\n\n");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<int> counts = prompt_tokens(run.err);
  ASSERT_EQ(counts.size(), 3u) << run.err;
  EXPECT_GT(counts[1], counts[0]);
  EXPECT_EQ(counts[2], counts[0]);
  EXPECT_EQ(run.out.find("prompt tokens"), std::string::npos);
}

TEST(CliChat, Commands) {
  Program program;
  const ProgramRun run = program.run(kChat, "/help\n/system be short\none\n/nonsense\n/exit\nnever\n");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("/clear"), HasSubstr("the system prompt is set"),
                                      HasSubstr("unknown command /nonsense")));
  EXPECT_EQ(prompt_tokens(run.err).size(), 1u);
  EXPECT_GT(prompt_tokens(run.err)[0], prompt_tokens(program.run(kChat, "one\n").err)[0]);
}

TEST(CliChat, TheLastLineNeedsNoNewline) {
  Program program;
  EXPECT_EQ(prompt_tokens(program.run(kChat, "one\r\ntwo").err).size(), 2u);
  EXPECT_EQ(program.run(kChat, "").exit_code, 0);
}

TEST(CliChat, CtrlCStopsTheAnswerAndThenTheChat) {
  Program program;
  const ProgramRun idle = program.run_interrupted(kChat, {"/help lists"});
  EXPECT_EQ(idle.exit_code, 0) << idle.err;
  EXPECT_EQ(count(idle.err, "prompt tokens"), 0u);
}

}  // namespace
}  // namespace gainz::test
