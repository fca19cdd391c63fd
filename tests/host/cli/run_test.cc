#include <gmock/gmock.h>

#include "host/cli/program.h"
#include "support/tiny_model.h"

namespace gainz::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> with(std::vector<std::string> more) {
  std::vector<std::string> all = {"run",           "-m", "tiny",      "-p",        "hello", "-n", "12",
                                  "--temperature", "0",  "--backend", "reference", "-t",    "1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The text between `"name":` and the next comma or brace, of a list all; enough for numbers, plain strings and lists of them.
std::string field(const std::string& json, const std::string& name) {
  const size_t at = json.find("\"" + name + "\":");
  if (at == std::string::npos) return "(none)";
  const size_t begin = at + name.size() + 3;
  return json.substr(begin, json.find_first_of(json[begin] == '[' ? "]" : ",}", begin) - begin);
}

TEST(CliRun, TheAnswerAloneIsOnStandardOutput) {
  Program program;
  const ProgramRun run = program.run(with({}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out, "");
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr(" · "));
  EXPECT_THAT(run.err, HasSubstr("prompt tokens"));
  EXPECT_THAT(run.err, HasSubstr("tokens/s"));
}

TEST(CliRun, JsonHasTheAgreedFields) {
  Program program;
  const ProgramRun run = program.run(with({"--json", "--ignore-eos", "--logprobs", "2"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.find('\n'), run.out.size() - 1);
  for (const char* name : {"text", "ids", "finish_reason", "usage", "timings", "device", "isa", "seed", "logprobs"}) {
    EXPECT_NE(field(run.out, name), "(none)") << name;
  }
  EXPECT_EQ(field(run.out, "finish_reason"), "\"length\"");
  EXPECT_EQ(field(run.out, "completion_tokens"), "12");
  EXPECT_EQ(field(run.out, "cached_tokens"), "0");
  EXPECT_EQ(field(run.out, "backend"), "\"reference\"");
}

TEST(CliRun, JsonAndPlainGiveTheSameText) {
  Program program;
  const ProgramRun plain = program.run(with({"--raw"})), json = program.run(with({"--raw", "--json"}));
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(program.run(with({"--raw"})).out, plain.out);
  EXPECT_NE(plain.out, program.run(with({})).out);  // the template makes another prompt
}

TEST(CliRun, TheSeedRepeatsTheAnswer) {
  Program program;
  const auto sampled = with({"--json", "--ignore-eos", "--seed", "7"});
  std::vector<std::string> hot = sampled;
  hot[8] = "1.5";
  const std::string first = field(program.run(hot).out, "ids"), second = field(program.run(hot).out, "ids");
  EXPECT_EQ(first, second);
  EXPECT_EQ(field(program.run(hot).out, "seed"), "7");
}

TEST(CliRun, StopsAndBias) {
  Program program;
  const ProgramRun biased = program.run(with({"--json", "--logit-bias", "70=1000", "-n", "3"}));
  EXPECT_EQ(biased.exit_code, 2);  // -n twice is wrong usage
  const ProgramRun run = program.run({"run", "-m", "tiny", "-p", "x", "-n", "3", "--temperature", "0", "--backend", "reference",
                                      "--json", "--logit-bias", "70=1000"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"ids\":[70,70,70]"));
  const ProgramRun stopped = program.run({"run", "-m", "tiny", "-p", "x", "-n", "3", "--temperature", "0", "--backend",
                                          "reference", "--json", "--logit-bias", "70=1000", "--stop-token-id", "70"});
  EXPECT_EQ(field(stopped.out, "finish_reason"), "\"stop\"");
}

TEST(CliRunPb12, APromptBeyondTheContextIsRefused) {
  Program program;
  std::string longer;
  for (int i = 0; i < 2000; ++i) longer += "word ";
  const ProgramRun run = program.run({"run", "-m", "tiny", "-p", longer, "-c", "64", "--backend", "reference"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("64"));
}

TEST(CliRun, ABadRequestIsAFailure) {
  Program program;
  const ProgramRun run = program.run(with({"--logit-bias", "1000000=1"}));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
}

TEST(CliRun, CtrlCCancels) {
  Program program;
  TinyModelOptions options;
  options.context = 1 << 17;  // long enough to be still running
  ASSERT_TRUE(write_tiny_model(program.folder().file("models/long.gguf"), options));
  const ProgramRun run = program.run_interrupted({"run", "-m", "long", "-p", "x", "-c", "100000", "--ignore-eos",
                                                  "--temperature", "0", "--backend", "reference", "-t", "1"},
                                                 {" · "});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cancelled"));
}

TEST(CliRun, TheBackendInTheTomlChangesTheDeviceAlone) {
  Program program;
  std::vector<std::string> texts, devices;
  for (const char* backend : {"reference", "onednn"}) {
    const std::string config =
        program.folder().write("g.toml", std::string("backend = \"") + backend + "\"\n[[model]]\npath = \"tiny.gguf\"\n");
    const ProgramRun run = program.run({"run", "-p", "hello", "-n", "4", "--temperature", "0", "--json", "--config", config});
    if (run.exit_code != 0 && run.err.find("onednn") != std::string::npos && std::string(backend) == "onednn") {
      GTEST_SKIP() << "no onednn plugin in this build: " << run.err;
    }
    ASSERT_EQ(run.exit_code, 0) << run.err;
    texts.push_back(field(run.out, "prompt_tokens"));
    devices.push_back(field(run.out, "device"));
    EXPECT_EQ(field(run.out, "backend"), std::string("\"") + backend + "\"");
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(devices[0], devices[1]);
}

}  // namespace
}  // namespace gainz::test
