// Exit statuses, and which stream says what.
#include <gmock/gmock.h>

#include "host/cli/program.h"

namespace gainz::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CliUsage, WrongUsageIsTwoWithOneSentence) {
  Program program;
  const std::vector<std::vector<std::string>> wrong = {{"nonsense"},
                                                       {"--nonsense"},
                                                       {"run", "--nonsense"},
                                                       {"run", "-p", "x"},
                                                       {"run", "-m", "tiny", "--json"},
                                                       {"run", "-m", "tiny", "--raw"},
                                                       {"run", "-m", "tiny", "-p", "x", "--temperature", "hot"},
                                                       {"run", "-m", "tiny", "-p", "x", "--temperature", "-1"},
                                                       {"run", "-m", "tiny", "-p", "x", "--speculation", "turbo"},
                                                       {"run", "-m", "tiny", "-p", "x", "--logprobs", "1"},
                                                       {"run", "-m", "tiny", "-p", "x", "--parse-special"},
                                                       {"run", "-m", "tiny", "-p", "x", "--raw", "--system", "y"},
                                                       {"bench", "-m", "tiny", "-p", "0", "-n", "0"},
                                                       {"inspect"}};
  for (const auto& arguments : wrong) {
    const ProgramRun run = program.run(arguments);
    EXPECT_EQ(run.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(run.out, "") << testing::PrintToString(arguments);
    EXPECT_THAT(run.err, StartsWith("gainz: ")) << testing::PrintToString(arguments);
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
  EXPECT_EQ(program.run({}).exit_code, 2);
}

TEST(CliUsage, HelpGoesToStandardOutput) {
  Program program;
  const ProgramRun run = program.run({"run", "--help"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("--repetition-penalty"));
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(program.run({"--version"}).exit_code, 0);
}

TEST(CliUsage, AMissingModelTellsHowToGetOne) {
  Program program;
  const ProgramRun run = program.run({"run", "-m", "none.gguf", "-p", "x"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("none.gguf"), HasSubstr("gainz pull")));
}

TEST(CliUsagePb39, ModelPathsThatAreNoFiles) {
  Program program;
  const std::string fifo = program.folder().file("fifo"), empty = program.folder().write("empty.gguf", "");
  ASSERT_EQ(std::system(("mkfifo " + fifo).c_str()), 0);
  for (const std::string& path :
       {program.folder().path(), fifo, empty, program.folder().file("gone.gguf"), std::string(300, 'a')}) {
    const ProgramRun run = program.run({"run", "-m", path, "-p", "x", "--backend", "reference"});
    EXPECT_EQ(run.exit_code, 1) << path;
    EXPECT_EQ(run.out, "") << path;
    EXPECT_THAT(run.err, HasSubstr(path)) << path;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
}

TEST(CliUsagePb39, ModelPathsWithUnusualNames) {
  Program program;
  for (const char* name : {"モデル\xE3\x80\x80.gguf", "e\xCC\x81.gguf", "😀.gguf", "it's \"q\".gguf", "bad\xFF.gguf"}) {
    const std::string path = program.folder().file(name);
    std::filesystem::copy_file(program.model(), path);
    const ProgramRun run = program.run({"run", "-m", path, "-p", "x", "-n", "1", "--backend", "reference"});
    EXPECT_EQ(run.exit_code, 0) << name << ": " << run.err;
  }
}

TEST(CliUsage, AConfigurationsMistakesEndTheProgram) {
  Program program;
  const std::string config = program.folder().write("bad.toml", "\nbakcend = \"reference\"\n");
  const ProgramRun run = program.run({"run", "-m", "tiny", "-p", "x", "--config", config});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("bad.toml:2: unknown key \"bakcend\"; did you mean \"backend\"?"));
}

TEST(CliUsage, AFullDiskIsAFailure) {
  Program program;
  EXPECT_EQ(std::system((std::string(GAINZ_BUILD_DIR "/bin/gainz config --example >/dev/full 2>/dev/null")).c_str()) >> 8, 1);
}

}  // namespace
}  // namespace gainz::test
