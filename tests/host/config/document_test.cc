// The files in configs/ and docs/ are what the code's table says. GAINZ_TEST_UPDATE=1 in the environment writes them anew.
#include "config/document.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "config/config_file.h"
#include "host/temp_folder.h"

namespace gainz::host {
namespace {

using test::read_file;

bool update() { return std::getenv("GAINZ_TEST_UPDATE") != nullptr; }

TEST(HostDocument, ConfigsGainzTomlIsTheTable) {
  const std::string path = GAINZ_SOURCE_DIR "/configs/gainz.toml";
  if (update()) std::ofstream(path) << example_toml();
  EXPECT_EQ(read_file(path), example_toml());
}

TEST(HostDocument, ConfigsGainzTomlSetsEveryKeyToItsDefault) {
  Settings settings;
  const Outcome outcome = read_config_file(GAINZ_SOURCE_DIR "/configs/gainz.toml", settings);
  ASSERT_TRUE(outcome.ok()) << outcome.failure().sentence;
  for (size_t i = 0; i < kNumKeys; ++i) {
    EXPECT_EQ(settings.at(i).source, Source::file) << kSchema[i].name << " is not in the file";
    EXPECT_EQ(settings.at(i).value, default_value(kSchema[i])) << kSchema[i].name;
  }
}

TEST(HostDocument, DocsConfigurationHoldsTheTables) {
  const std::string path = GAINZ_SOURCE_DIR "/docs/configuration.md", begin = "<!-- settings -->\n",
                    end = "<!-- end of settings -->\n";
  std::string text = read_file(path);
  const size_t from = text.find(begin), to = text.find(end);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos && from < to);
  if (update()) {
    text.replace(from + begin.size(), to - from - begin.size(), settings_tables());
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(text.substr(from + begin.size(), to - from - begin.size()), settings_tables());
}

}  // namespace
}  // namespace gainz::host
