#include "config/settings.h"

#include <gmock/gmock.h>

#include "host/temp_folder.h"

namespace gainz::host {
namespace {

using test::TempFolder;
using testing::HasSubstr;

TEST(HostSettingsPb49, FlagBeforeEnvironmentBeforeFileBeforeDefault) {
  const TempFolder folder;
  const std::string file = folder.write(
      "g.toml", "context = 10\nthreads = 1\nbatch_tokens = 7\n[[model]]\npath = \"m\"\nmax_sequences = 3\ncontext = 11\n");
  const Environment environment = {{"GAINZ_CONTEXT", "20"}, {"GAINZ_THREADS", "2"}, {"GAINZ_MAX_SEQUENCES", "4"}};
  const auto settings = resolve_settings(environment, file, {{key("context"), "30", "--context"}});
  ASSERT_TRUE(settings.ok()) << settings.failure().sentence;
  EXPECT_EQ(settings->integer(key("context")), 30);
  EXPECT_EQ(settings->at(key("context")).where, "--context");
  EXPECT_EQ(settings->integer(key("threads")), 2);
  EXPECT_EQ(settings->at(key("threads")).where, "GAINZ_THREADS");
  EXPECT_EQ(settings->integer(key("batch_tokens")), 7);
  EXPECT_EQ(settings->at(key("batch_tokens")).where, file + ":3");
  EXPECT_EQ(settings->at(key("kv_type")).where, "default");
  const Settings own = settings->for_model(settings->models[0]);
  EXPECT_EQ(own.integer(key("max_sequences")), 4);  // the environment still wins over [[model]]
  EXPECT_EQ(own.integer(key("context")), 30);
}

TEST(HostSettingsPb49, EmptyOrWrongEnvironmentValue) {
  EXPECT_EQ(resolve_settings({{"GAINZ_CONTEXT", ""}}, std::nullopt, {}).failure().sentence,
            "GAINZ_CONTEXT is set but empty; give it a value (an integer from 0 to 16777216) or unset it");
  const auto wrong = resolve_settings({{"GAINZ_SAMPLING_TOP_K", "x"}}, std::nullopt, {});
  EXPECT_THAT(wrong.failure().sentence, HasSubstr("GAINZ_SAMPLING_TOP_K: sampling.top_k must be an integer"));
  EXPECT_EQ(wrong.failure().exit_code, kExitFailure);
}

TEST(HostSettingsPb49, WrongFlagIsWrongUsage) {
  const auto wrong = resolve_settings({}, std::nullopt, {{key("context"), "x", "--context"}});
  EXPECT_THAT(wrong.failure().sentence, HasSubstr("--context: context must be an integer"));
  EXPECT_EQ(wrong.failure().exit_code, kExitUsage);
}

TEST(HostSettings, UnknownVariablesAreTold) {
  const auto settings = resolve_settings({{"GAINZ_CONTEXTS", "5"}, {"GAINZ_ZZZ", "1"}, {"GAIN", "1"}}, std::nullopt, {});
  ASSERT_TRUE(settings.ok());
  EXPECT_THAT(settings->warnings,
              testing::ElementsAre("warning: the environment's GAINZ_CONTEXTS is no setting; did you mean GAINZ_CONTEXT?",
                                   "warning: the environment's GAINZ_ZZZ is no setting"));
}

TEST(HostSettings, TheUsersFileIsTakenIfItIsThere) {
  const TempFolder folder;
  EXPECT_EQ(resolve_settings({{"XDG_CONFIG_HOME", folder.path()}}, std::nullopt, {})->file, "");
  const std::string file = folder.write("gainz/gainz.toml", "context = 77\n");
  const auto settings = resolve_settings({{"XDG_CONFIG_HOME", folder.path()}}, std::nullopt, {});
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->file, file);
  EXPECT_EQ(settings->integer(key("context")), 77);
  const std::string other = folder.write("other.toml", "");
  EXPECT_EQ(resolve_settings({{"XDG_CONFIG_HOME", folder.path()}}, other, {})->integer(key("context")), 0);
  folder.write("gainz/gainz.toml", "contxt = 1\n");
  EXPECT_FALSE(resolve_settings({{"XDG_CONFIG_HOME", folder.path()}}, std::nullopt, {}).ok());
}

}  // namespace
}  // namespace gainz::host
