#include <gmock/gmock.h>

#include "host/cli/program.h"

namespace gainz::test {
namespace {

using testing::HasSubstr;

TEST(CliDevices, ListsAndMarksTheBackendsDevice) {
  Program program;
  const ProgramRun run = program.run({"devices", "--backend", "reference"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\n* "));
  EXPECT_THAT(run.out, HasSubstr("backend \"reference\" takes the device marked *"));
  EXPECT_THAT(program.run({"devices", "--backend", "nothing"}).out, HasSubstr("backend \"nothing\" has no device"));
}

TEST(CliDevices, Json) {
  Program program;
  const ProgramRun run = program.run({"devices", "--json", "--backend", "reference"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* name : {"plugins", "devices", "backend", "selected", "loaded", "reason", "path", "isa", "kind"}) {
    EXPECT_THAT(run.out, HasSubstr(std::string("\"") + name + "\": ")) << name;
  }
}

TEST(CliDevices, ABrokenPluginIsNamedWithFileAndReason) {
  Program program;
  const std::string plugin = program.folder().write("plugins/gainz_broken.so", "not a library");
  program.folder().write("plugins/gainz_broken.plugin.toml",
                         "name = \"broken\"\nversion = \"0.1.0\"\nlibrary = \"gainz_broken.so\"\nabi = \"0.1\"\n");
  program.variables = {"GAINZ_PLUGIN_PATH=" + program.folder().file("plugins")};
  const ProgramRun list = program.run({"devices"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, testing::AllOf(HasSubstr("gainz_broken"), HasSubstr("failed: ")));
  const ProgramRun run = program.run({"run", "-m", "tiny", "-p", "x", "--backend", "broken"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("gainz_broken"));
}

TEST(CliDevices, AnUnknownBackendIsAFailure) {
  Program program;
  const ProgramRun run = program.run({"run", "-m", "tiny", "-p", "x", "--backend", "nothing"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("nothing"));
}

TEST(CliDevicesPb41, WithoutAnyPluginTheErrorIsClear) {
  Program program;
  std::filesystem::create_directory(program.folder().file("none"));
  program.variables = {"GAINZ_PLUGIN_PATH=" + program.folder().file("none")};
  EXPECT_THAT(program.run({"devices"}).out, HasSubstr("no plugins found"));
  EXPECT_EQ(program.run({"run", "-m", "tiny", "-p", "x"}).exit_code, 1);
}

}  // namespace
}  // namespace gainz::test
