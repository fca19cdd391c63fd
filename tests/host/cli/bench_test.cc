#include <gmock/gmock.h>

#include "host/cli/program.h"

namespace gainz::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> bench(std::vector<std::string> more) {
  std::vector<std::string> all = {"bench", "-m", "tiny", "-p", "32", "-n",        "4",        "--streams",
                                  "1,2",   "-r", "2",    "-t", "1",  "--backend", "reference"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(CliBench, JsonHasTheAgreedShape) {
  Program program;
  const ProgramRun run = program.run(bench({"--json", "--depth", "0,32"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* name : {"machine",
                           "limits",
                           "read_gb_per_second",
                           "peak_gops",
                           "results",
                           "phase",
                           "streams",
                           "tokens",
                           "depth",
                           "tokens_per_second",
                           "median",
                           "min",
                           "max",
                           "share_of_limit",
                           "ttft_ms",
                           "gb_per_second",
                           "gops",
                           "threads",
                           "kv_type",
                           "isa",
                           "load_seconds",
                           "peak_memory_bytes"}) {
    EXPECT_THAT(run.out, HasSubstr(std::string("\"") + name + "\":")) << name;
  }
  size_t rows = 0;
  for (size_t at = run.out.find("\"phase\""); at != std::string::npos; at = run.out.find("\"phase\"", at + 1)) ++rows;
  EXPECT_EQ(rows, 8u);  // two phases, two depths, two numbers of streams
  EXPECT_THAT(run.out, HasSubstr("\"threads\":1"));
}

TEST(CliBench, TableAndBaseline) {
  Program program;
  const ProgramRun first = program.run(bench({"--json"}));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string baseline = program.folder().write("b.json", first.out);
  const ProgramRun loose = program.run(bench({"--baseline", baseline, "--band", "0.99"}));
  EXPECT_EQ(loose.exit_code, 0) << loose.err;
  EXPECT_THAT(loose.out, HasSubstr("limits measured here"));
  EXPECT_THAT(loose.err, HasSubstr("baseline"));
  std::string faster = first.out;
  for (size_t at = faster.find("\"median\":"); at != std::string::npos; at = faster.find("\"median\":", at + 1))
    faster.insert(at + 9, "99999");
  const ProgramRun worse = program.run(bench({"--baseline", program.folder().write("f.json", faster)}));
  EXPECT_EQ(worse.exit_code, 1);
  EXPECT_THAT(worse.err, HasSubstr("slower than the baseline by more than 10 %"));
}

TEST(CliBench, Failures) {
  Program program;
  EXPECT_EQ(program.run(bench({"--baseline", program.folder().file("none")})).exit_code, 1);
  EXPECT_EQ(program.run(bench({"--streams", "1"})).exit_code, 2);  // twice
  const ProgramRun unwritable = program.run(bench({"--plot", "/nowhere/plot.svg"}));
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("plot /nowhere/plot.svg: No such file or directory"));
  const ProgramRun longer = program.run({"bench", "-m", "tiny", "-p", "100000", "-n", "0", "--streams", "1", "-r", "1",
                                         "--backend", "reference", "--kv-memory-bytes", "65536"});
  EXPECT_EQ(longer.exit_code, 1) << longer.out;
  EXPECT_EQ(longer.out, "");
}

}  // namespace
}  // namespace gainz::test
