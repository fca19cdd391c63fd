#include "config/speculation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_file.h"
#include "config/settings.h"

namespace gainz::host {
namespace {

using testing::HasSubstr;

TEST(HostSpeculation, TextsAreRead) {
  struct Case {
    const char* text;
    uint32_t mode, kinds, depth;
  };
  for (const Case& c :
       {Case{"auto", GAINZ_SPECULATION_AUTO, 0, 0}, Case{"off", GAINZ_SPECULATION_OFF, 0, 0},
        Case{"ngram", GAINZ_SPECULATION_AUTO, 1, 0}, Case{" ngram , cache,noise", GAINZ_SPECULATION_AUTO, 1 | 4 | 16, 0},
        Case{"model,max_depth=4", GAINZ_SPECULATION_AUTO, 8, 4}, Case{"depth=16", GAINZ_SPECULATION_FIXED, 0, 16},
        Case{"depth=0", GAINZ_SPECULATION_FIXED, 0, 0}}) {
    const Result<gainz_speculation> parsed = parse_speculation(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << parsed.failure().sentence;
    EXPECT_EQ(parsed->mode, c.mode) << c.text;
    EXPECT_EQ(parsed->kinds, c.kinds) << c.text;
    EXPECT_EQ(parsed->depth, c.depth) << c.text;
  }
}

TEST(HostSpeculation, MistakesAreNamed) {
  for (const char* text :
       {"", "none", "auto,ngram", "off,off", "ngram,", "NGRAM", "depth", "depth=4,max_depth=4", "depth=4,depth=4"})
    EXPECT_THAT(parse_speculation(text).failure().sentence, HasSubstr("must be")) << text;
  for (const char* text : {"depth=17", "depth=-1", "max_depth=0", "max_depth=17", "depth=many", "depth="})
    EXPECT_THAT(parse_speculation(text).failure().sentence, HasSubstr("it must be an integer from")) << text;
}

TEST(HostSpeculation, AFileMayHaveATable) {
  const auto read = [](const char* toml) -> std::string {
    Settings settings;
    const Outcome outcome = parse_config(toml, "x.toml", settings);
    return outcome.ok() ? settings.text(key("speculation")) : outcome.failure().sentence;
  };
  EXPECT_EQ(read("speculation = \"off\""), "off");
  EXPECT_EQ(read("speculation = {kinds = [\"ngram\", \"cache\"], max_depth = 4}"), "ngram,cache,max_depth=4");
  EXPECT_EQ(read("[speculation]\ndepth = 3"), "depth=3");
  EXPECT_THAT(read("speculation = {kind = [\"ngram\"]}"), HasSubstr("x.toml:1: speculation must be"));
  EXPECT_THAT(read("speculation = {kinds = [1]}"), HasSubstr("not \"kinds\""));
  EXPECT_THAT(read("speculation = {kinds = []}"), HasSubstr("not \"kinds\""));
  EXPECT_THAT(read("speculation = {}"), HasSubstr("must be"));
  EXPECT_THAT(read("speculation = 4"), HasSubstr("must be a text, not 4"));
}

}  // namespace
}  // namespace gainz::host
