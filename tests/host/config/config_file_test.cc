// PB49: every mistake in a configuration is named with its line, and nothing is dropped without a word.
#include "config/config_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "host/temp_folder.h"

namespace gainz::host {
namespace {

using test::TempFolder;
using testing::HasSubstr;
using testing::StartsWith;

std::string mistake(std::string_view text) {
  Settings settings;
  const Outcome outcome = parse_config(text, "f.toml", settings);
  return outcome.ok() ? "" : outcome.failure().sentence;
}

TEST(HostConfigFilePb49, MisspeltKey) {
  EXPECT_EQ(mistake("\nbakcend = \"onednn\"\n"), "f.toml:2: unknown key \"bakcend\"; did you mean \"backend\"?");
  EXPECT_EQ(mistake("[sampling]\ntemprature = 1\n"),
            "f.toml:2: unknown key \"temprature\" in [sampling]; did you mean \"temperature\"?");
  EXPECT_EQ(mistake("colour = 1"), "f.toml:1: unknown key \"colour\"");
  EXPECT_EQ(mistake("\"a\\u001Bb\" = 1"), "f.toml:1: unknown key \"a\\x1Bb\"");
}

TEST(HostConfigFilePb49, RightKeyInTheWrongSection) {
  EXPECT_EQ(mistake("temperature = 1"), "f.toml:1: unknown key \"temperature\"; it belongs to [sampling]");
  EXPECT_EQ(mistake("[log]\ncontext = 1"),
            "f.toml:2: unknown key \"context\" in [log]; it belongs to the top level, before the first section");
  EXPECT_EQ(mistake("[[model]]\npath = \"a\"\nthreads = 2"),
            "f.toml:3: unknown key \"threads\" in [[model]]; it belongs to the top level, before the first section");
  EXPECT_EQ(mistake("path = \"a\""), "f.toml:1: unknown key \"path\"; it belongs to [[model]]");
}

TEST(HostConfigFilePb49, HyphenForUnderscore) {
  EXPECT_EQ(mistake("kv-type = \"f16\""), "f.toml:1: unknown key \"kv-type\"; did you mean \"kv_type\"?");
  EXPECT_EQ(mistake("[sampling]\ntop-k = 1"), "f.toml:2: unknown key \"top-k\" in [sampling]; did you mean \"top_k\"?");
}

TEST(HostConfigFilePb49, WrongTypeOrRange) {
  EXPECT_EQ(mistake("backend = \"auto\"\ncontext = \"many\""),
            "f.toml:2: context must be an integer from 0 to 16777216, not \"many\"");
  EXPECT_EQ(mistake("threads = 1.5"), "f.toml:1: threads must be an integer from 0 to 1024, not 1.5");
  EXPECT_EQ(mistake("threads = -1"), "f.toml:1: threads must be an integer from 0 to 1024, not -1");
  EXPECT_EQ(mistake("backend = 1"), "f.toml:1: backend must be a text, not 1");
  EXPECT_EQ(mistake("backend = [\"a\"]"), "f.toml:1: backend must be a text, not a list");
  EXPECT_EQ(mistake("mmap = \"true\""), "f.toml:1: mmap must be true or false, not \"true\"");
  EXPECT_EQ(mistake("threads = 2026-01-01"), "f.toml:1: threads must be an integer from 0 to 1024, not a date or time");
  EXPECT_EQ(mistake("[sampling]\ntop_p = nan"), "f.toml:2: sampling.top_p must be a number from 0 to 1, not nan");
  EXPECT_EQ(mistake("sampling = 1"), "f.toml:1: sampling must be a section [sampling], not an integer");
  EXPECT_EQ(mistake("[model]\npath = \"a\""), "f.toml:1: a model is written as [[model]], with two brackets");
  EXPECT_EQ(mistake("[[sampling]]\ntop_k = 1"), "f.toml:1: sampling must be a section [sampling], not a list");
  EXPECT_EQ(mistake("plugin_path = \"a\\u0000b\""), "f.toml:1: plugin_path must not hold a zero byte");
}

TEST(HostConfigFilePb49, NullAndOtherSyntax) {
  EXPECT_THAT(mistake("\n\ncontext = null\n"), StartsWith("f.toml:3: "));
  EXPECT_THAT(mistake("context =\n"), StartsWith("f.toml:1: "));
  EXPECT_THAT(mistake("context: 5\n"), StartsWith("f.toml:1: "));
  EXPECT_THAT(mistake("threads = 99999999999999999999"), StartsWith("f.toml:1: "));
  EXPECT_THAT(mistake("[\x1b"), StartsWith("f.toml:1: "));
  EXPECT_THAT(mistake("\xEF\xBB\x89"), StartsWith("f.toml:1: "));
  EXPECT_THAT(mistake("backend = \"\xFF\""), StartsWith("f.toml:1: "));
}

TEST(HostConfigFilePb49, Duplicates) {
  EXPECT_THAT(mistake("context = 1\ncontext = 2\n"), testing::AllOf(StartsWith("f.toml:2: "), HasSubstr("context")));
  EXPECT_THAT(mistake("[log]\n[sampling]\n[log]\n"), StartsWith("f.toml:3: "));
  EXPECT_EQ(mistake("[[model]]\npath = \"a\"\nname = \"x\"\n[[model]]\npath = \"b\"\nname = \"x\"\n"),
            "f.toml:4: two models have the name \"x\"");
}

TEST(HostConfigFilePb49, UnknownSection) {
  EXPECT_EQ(mistake("[smpling]\ntop_k = 1"), "f.toml:1: unknown section [smpling]; did you mean [sampling]?");
  EXPECT_EQ(mistake("[[models]]\npath = \"a\""), "f.toml:1: unknown section [models]; did you mean [[model]]?");
}

TEST(HostConfigFilePb49, EveryMistakeHasItsLineInOrder) {
  EXPECT_EQ(mistake("zeta = 1\nalpha = 2\n[log]\nlevel = \"loud\"\n"),
            "f.toml:1: unknown key \"zeta\"\nf.toml:2: unknown key \"alpha\"\n"
            "f.toml:4: log.level must be one of \"error\", \"warning\", \"info\", \"debug\", not \"loud\"");
  std::string many;
  for (size_t i = 0; i < kMaxMistakes + 5; ++i) many += "unknown" + std::to_string(i) + " = 1\n";
  EXPECT_THAT(mistake(many), testing::EndsWith("f.toml: and 5 more mistakes"));
}

TEST(HostConfigFilePb49, ByteOrderMarkAndCarriageReturns) {
  Settings settings;
  ASSERT_EQ(mistake("\xEF\xBB\xBF"
                    "context = 5\r\n[log]\r\nlevel = \"info\"\r\n"),
            "");
  ASSERT_TRUE(parse_config("\xEF\xBB\xBF"
                           "context = 5\r\n[log]\r\nlevel = \"info\"\r\n",
                           "f.toml", settings)
                  .ok());
  EXPECT_EQ(settings.integer(key("context")), 5);
  EXPECT_EQ(settings.at(key("log.level")).where, "f.toml:3");
}

TEST(HostConfigFilePb49, EmptyFileFolderAndHugeFile) {
  const TempFolder folder;
  Settings settings;
  EXPECT_TRUE(read_config_file(folder.write("empty.toml", ""), settings).ok());
  EXPECT_THAT(read_config_file(folder.path(), settings).failure().sentence, HasSubstr("is a folder"));
  const std::string huge = folder.write("huge.toml", "");
  ASSERT_EQ(truncate(huge.c_str(), 100 << 20), 0);
  EXPECT_THAT(read_config_file(huge, settings).failure().sentence,
              HasSubstr("has 104857600 bytes, more than the limit of 1048576"));
  EXPECT_THAT(read_config_file(folder.file("none.toml"), settings).failure().sentence, HasSubstr("No such file"));
}

TEST(HostConfigFile, NestingIsBounded) {
  std::string dots = "a";
  for (size_t i = 0; i <= kMaxDotsInLine; ++i) dots += ".a";
  EXPECT_EQ(mistake("\n" + dots + " = 1"), "f.toml:2: more dots in this line than the limit of 64");
  EXPECT_THAT(mistake("x = " + std::string(100000, '[')), StartsWith("f.toml:1: "));
  // The deepest that passes: lists in tables in lists, 64 dots each.
  std::string deep, key = dots.substr(0, 2 * kMaxDotsInLine - 1);
  for (int i = 0; i < 200; ++i) deep += (i == 0 ? "" : "{") + key + " = [\n";
  EXPECT_THAT(mistake(deep), StartsWith("f.toml:"));
}

TEST(HostConfigFile, TooManyModels) {
  std::string text;
  for (size_t i = 0; i <= kMaxModels; ++i) text += "[[model]]\npath = \"a\"\n";
  EXPECT_EQ(mistake(text), "f.toml:1: 257 [[model]] sections, more than the limit of 256");
}

TEST(HostConfigFile, ModelsWithOverrides) {
  Settings settings;
  ASSERT_TRUE(parse_config("context = 100\n[[model]]\npath = \"a.gguf\"\nname = \"a\"\ncontext = 200\nmmap = "
                           "false\n[[model]]\npath = \"b.gguf\"\n",
                           "d/f.toml", settings)
                  .ok());
  ASSERT_EQ(settings.models.size(), 2u);
  EXPECT_EQ(settings.models[0].path, "a.gguf");
  EXPECT_EQ(settings.models[0].name, "a");
  const Settings own = settings.for_model(settings.models[0]);
  EXPECT_EQ(own.integer(key("context")), 200);
  EXPECT_EQ(own.at(key("context")).where, "d/f.toml:5");
  EXPECT_FALSE(own.boolean(key("mmap")));
  EXPECT_EQ(settings.for_model(settings.models[1]).integer(key("context")), 100);
  EXPECT_EQ(mistake("[[model]]\nname = \"a\""), "f.toml:1: [[model]] has no \"path\"");
  EXPECT_EQ(mistake("[[model]]\npath = \"\""), "f.toml:2: model.path must be a text that is not empty");
}

TEST(HostConfigFile, FoldersAreRelativeToTheFile) {
  Settings settings;
  ASSERT_TRUE(parse_config("plugin_path = \"mine:/abs\"\nmodels = \"m\"\n", "/etc/x/f.toml", settings).ok());
  EXPECT_EQ(settings.text(key("plugin_path")), "/etc/x/mine:/abs");
  EXPECT_EQ(settings.text(key("models")), "/etc/x/m");
}

}  // namespace
}  // namespace gainz::host
