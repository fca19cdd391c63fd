#include "cli/parse.h"

#include <gmock/gmock.h>

namespace gainz::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::variant<Options, Help>> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "gainz");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}
Options options(std::vector<const char*> words) {
  auto parsed = parse(std::move(words));
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.failure().sentence);
  return parsed.ok() && std::holds_alternative<Options>(*parsed) ? std::get<Options>(*parsed) : Options();
}
std::string wrong(std::vector<const char*> words) {
  auto parsed = parse(std::move(words));
  if (parsed.ok()) return "";
  EXPECT_EQ(parsed.failure().exit_code, kExitUsage);
  EXPECT_EQ(parsed.failure().sentence.find('\n'), std::string::npos);
  return parsed.failure().sentence;
}

TEST(HostParse, Run) {
  const Options o = options({"run",
                             "-m",
                             "x.gguf",
                             "-p",
                             "hello",
                             "--seed",
                             "18446744073709551615",
                             "--stop",
                             "[a,b]",
                             "--stop",
                             "c,d",
                             "--stop-token-id",
                             "2",
                             "--logit-bias",
                             "5=-1.5",
                             "--logit-bias",
                             "7=3",
                             "--logprobs",
                             "0",
                             "--ignore-eos",
                             "--json"});
  EXPECT_EQ(o.command, "run");
  EXPECT_EQ(o.model, "x.gguf");
  EXPECT_EQ(o.run.prompt, "hello");
  EXPECT_EQ(o.run.seed, UINT64_MAX);
  EXPECT_THAT(o.run.stop, ElementsAre("[a,b]", "c,d"));
  EXPECT_THAT(o.run.stop_token_ids, ElementsAre(2));
  EXPECT_THAT(o.run.logit_bias, ElementsAre(std::pair(5, -1.5f), std::pair(7, 3.0f)));
  EXPECT_EQ(o.run.logprobs, 0);
  EXPECT_TRUE(o.run.ignore_eos);
  EXPECT_TRUE(o.json);
}

TEST(HostParse, ValuesMayLookLikeFlags) {
  const Options o = options({"run", "-p", "--help", "--system", "-x", "--presence-penalty", "-1", "-n", "-1"});
  EXPECT_EQ(o.run.prompt, "--help");
  EXPECT_EQ(o.run.system, "-x");
  ASSERT_EQ(o.flags.size(), 2u);
  EXPECT_EQ(options({"run", "-p", ""}).run.prompt, "");
  EXPECT_EQ(options({"run", "-p", "[]"}).run.prompt, "[]");
  EXPECT_EQ(options({"run", "--prompt=a=b"}).run.prompt, "a=b");
  EXPECT_EQ(options({"run", "-p", "a\nb 日本 \"q\""}).run.prompt, "a\nb 日本 \"q\"");
}

TEST(HostParse, SettingFlags) {
  const Options o = options({"run", "-t", "2", "-c", "512", "--kv-type", "q8_0", "--temperature", "0"});
  ASSERT_EQ(o.flags.size(), 4u);
  for (const FlagValue& flag : o.flags) {
    if (flag.key == key("threads")) {
      EXPECT_EQ(flag.text, "2");
    } else if (flag.key == key("context")) {
      EXPECT_EQ(flag.flag, "--context");
    }
  }
}

TEST(HostParse, Bench) {
  const Options o = options({"bench", "-p", "8", "-n", "4", "--streams", "1,2", "--depth", "0,16", "-r", "1", "--band", "0.2",
                             "--baseline", "b.json"});
  EXPECT_EQ(o.bench.prompt_tokens, 8u);
  EXPECT_EQ(o.bench.decode_tokens, 4u);
  EXPECT_THAT(o.bench.streams, ElementsAre(1, 2));
  EXPECT_THAT(o.bench.depths, ElementsAre(0, 16));
  EXPECT_EQ(o.bench.num_repeats, 1u);
  EXPECT_EQ(o.bench.band, 0.2);
  EXPECT_THAT(options({"bench"}).bench.streams, ElementsAre(1, 4, 16));
}

TEST(HostParse, WrongUsage) {
  EXPECT_EQ(wrong({"frobnicate"}),
            "unknown command \"frobnicate\"; the commands are run, serve, batch, bench, devices, pull, list, inspect, config");
  EXPECT_EQ(wrong({"benhc"}), "unknown command \"benhc\"; did you mean \"bench\"?");
  EXPECT_THAT(wrong({"run", "--nonsense"}), HasSubstr("--nonsense"));
  EXPECT_THAT(wrong({"run", "stray"}), HasSubstr("stray"));
  EXPECT_THAT(wrong({"run", "-m"}), HasSubstr("-m"));
  EXPECT_THAT(wrong({"run", "-m", "a", "-m", "b"}), HasSubstr("-m"));
  EXPECT_THAT(wrong({"run", "--seed", "-1"}), HasSubstr("must be an integer from 0"));
  EXPECT_THAT(wrong({"run", "--logit-bias", "5"}), HasSubstr("TOKEN_ID=NUMBER"));
  for (const char* bias : {"=1", "x=1", "-1=1", "5=nan", "5=1e9", "2147483648=1"})
    EXPECT_THAT(wrong({"run", "--logit-bias", bias}), HasSubstr("42=-1.5"));
  EXPECT_THAT(wrong({"run", "--stop", ""}), HasSubstr("must not be empty"));
  EXPECT_THAT(wrong({"bench", "--streams", "1,,2"}), HasSubstr("--streams"));
  EXPECT_THAT(wrong({"bench", "--streams", "0"}), HasSubstr("from 1 to"));
  EXPECT_THAT(wrong({"bench", "-n", "1"}), HasSubstr("at least 2"));
  EXPECT_THAT(wrong({"bench", "--band", "1"}), HasSubstr("below 1"));
  EXPECT_THAT(wrong({"inspect"}), HasSubstr("file"));
  EXPECT_NE(wrong({"--nonsense"}), "");
}

TEST(HostParse, HelpOfEveryCommand) {
  for (const char* command : {"run", "bench", "devices", "pull", "list", "inspect", "config"}) {
    const auto parsed = parse({command, "--help"});
    ASSERT_TRUE(parsed.ok()) << command;
    ASSERT_TRUE(std::holds_alternative<Help>(*parsed)) << command;
    EXPECT_THAT(std::get<Help>(*parsed).text, HasSubstr("--config")) << command;
  }
  EXPECT_THAT(std::get<Help>(*parse({"--help"})).text, HasSubstr("bench"));
  EXPECT_THAT(std::get<Help>(*parse({"--version"})).text, HasSubstr("gainz 0."));
}

}  // namespace
}  // namespace gainz::host
