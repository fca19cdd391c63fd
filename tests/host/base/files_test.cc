#include "base/files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "host/temp_folder.h"

namespace gainz::host {
namespace {

using test::TempFolder;
using testing::HasSubstr;

TEST(HostFiles, ReadsUpToTheLimit) {
  const TempFolder folder;
  const std::string path = folder.write("a", "12345");
  ASSERT_TRUE(read_small_file(path, 5).ok());
  EXPECT_EQ(*read_small_file(path, 5), "12345");
  EXPECT_THAT(read_small_file(path, 4).failure().sentence, HasSubstr("has 5 bytes, more than the limit of 4"));
  EXPECT_EQ(*read_small_file(folder.write("empty", ""), 5), "");
}

TEST(HostFiles, Pb39NothingButARegularFileIsReadAndNothingHangs) {
  const TempFolder folder;
  const auto sentence = [](const std::string& path) { return read_small_file(path, 100).failure().sentence; };
  EXPECT_THAT(sentence(folder.path()), HasSubstr("is a folder"));
  EXPECT_THAT(sentence(folder.file("none")), HasSubstr("No such file"));
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  EXPECT_THAT(sentence(folder.file("fifo")), HasSubstr("not a regular file"));
  EXPECT_THAT(sentence("/dev/zero"), HasSubstr("not a regular file"));
  EXPECT_THAT(sentence(folder.file(std::string(300, 'a'))), HasSubstr("File name too long"));
  for (const char* name : {"モデル\xE3\x80\x80名", "e\xCC\x81", "😀", "it's \"q\"", "bad\xFF"}) {
    EXPECT_TRUE(read_small_file(folder.write(name, "x"), 100).ok()) << name;
  }
}

TEST(HostFiles, UserFolders) {
  EXPECT_EQ(user_config_folder({{"HOME", "/h"}}), "/h/.config");
  EXPECT_EQ(user_config_folder({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}}), "/x");
  EXPECT_EQ(user_cache_folder({{"HOME", "/h"}, {"XDG_CACHE_HOME", "relative"}}), "/h/.cache");  // the specification: ignored
  EXPECT_EQ(user_cache_folder({{"HOME", "/h"}, {"XDG_CACHE_HOME", ""}}), "/h/.cache");
  EXPECT_EQ(user_cache_folder({}), "");
}

TEST(HostFiles, Paths) {
  EXPECT_EQ(path_under("/a", "b"), "/a/b");
  EXPECT_EQ(path_under("/a/", "b"), "/a/b");
  EXPECT_EQ(path_under("/a", "/b"), "/b");
  EXPECT_EQ(path_under("", "b"), "b");
  EXPECT_EQ(folder_of("a/b/c"), "a/b");
  EXPECT_EQ(folder_of("/c"), "/");
  EXPECT_EQ(folder_of("c"), ".");
  EXPECT_EQ(base_name("a/b"), "b");
}

}  // namespace
}  // namespace gainz::host
