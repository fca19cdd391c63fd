#include <gmock/gmock.h>

#include "host/cli/program.h"

namespace gainz::test {
namespace {

using testing::HasSubstr;

TEST(CliConfigPb49, ShowsValueAndSource) {
  Program program;
  const std::string config =
      program.folder().write("g.toml", "context = 10\nthreads = 3\n[[model]]\npath = \"a.gguf\"\nkv_type = \"q8_0\"\n");
  program.variables = {"GAINZ_THREADS=2"};
  const ProgramRun run = program.run({"config", "--config", config, "--context", "30"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::ContainsRegex("context = 30 +# --context\n"));
  EXPECT_THAT(run.out, testing::ContainsRegex("threads = 2 +# GAINZ_THREADS\n"));
  EXPECT_THAT(run.out, testing::ContainsRegex("backend = \"auto\" +# default\n"));
  EXPECT_THAT(run.out, testing::ContainsRegex("kv_type = \"q8_0\" +# .*g.toml:5\n"));
  EXPECT_THAT(program.run({"config", "--json", "--config", config}).out, HasSubstr("\"source\": \"environment\""));
}

TEST(CliConfig, TheExampleIsAFileThatWorks) {
  Program program;
  const std::string config = program.folder().write("g.toml", program.run({"config", "--example"}).out);
  const ProgramRun run = program.run({"config", "--config", config});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("g.toml:"));
}

TEST(CliConfigPb49, FilesThatAreNoConfiguration) {
  Program program;
  EXPECT_EQ(program.run({"config", "--config", program.folder().path()}).exit_code, 1);
  EXPECT_EQ(program.run({"config", "--config", program.folder().file("none")}).exit_code, 1);
  EXPECT_EQ(program.run({"config", "--config", ""}).exit_code, 2);
  EXPECT_EQ(program.run({"config", "--config", program.folder().write("\xE8\xA8\xAD\xE5\xAE\x9A\xFF.toml", "")}).exit_code, 0);
  EXPECT_EQ(program.run({"config", "--config", program.folder().write("empty.toml", "")}).exit_code, 0);
}

}  // namespace
}  // namespace gainz::test
