// Paths and memory: what is not a readable file is one sentence, and opening costs no more than it says.
#include "gguf/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "runtime/gguf/gguf_test_util.h"
#include "support/sanitized.h"

namespace gainz::test {

namespace {

void expect_both(const std::string& path, Code code, const std::vector<std::string>& texts) {
  for (const bool use_mmap : {false, true}) expect_error(Gguf::open(path, {.use_mmap = use_mmap}).status(), code, texts);
}

TEST(ByteSource, pb39_what_is_not_a_file) {
  TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(folder / "empty", {}));
  std::filesystem::create_symlink("nowhere", folder / "dangling");
  std::filesystem::create_symlink("loop", folder / "loop");
  expect_both(folder / "absent.gguf", Code::not_found, {"absent.gguf", "No such file or directory"});
  expect_both(folder / "empty/x", Code::not_found, {"Not a directory"});
  expect_both(folder / "dangling", Code::not_found, {"No such file or directory"});
  expect_both(folder / "loop", Code::invalid, {"symbolic links"});
  expect_both(folder.path(), Code::invalid, {folder.path(), "Is a directory"});
  expect_both(folder / "fifo", Code::invalid, {"fifo", "not a regular file"});
  expect_both(folder / "empty", Code::invalid, {"empty", "24 bytes"});
  expect_both("/dev/null", Code::invalid, {"/dev/null", "not a regular file"});
  expect_both("/dev/zero", Code::invalid, {"/dev/zero", "not a regular file"});
  expect_both("", Code::not_found, {"No such file or directory"});
  expect_both(std::string("a\0b", 3), Code::invalid, {"zero byte"});
  expect_both(folder / std::string(300, 'x'), Code::invalid, {"File name too long"});
}

TEST(ByteSource, pb39_unreadable_file) {
  TempFolder folder;
  ASSERT_TRUE(small_file().write(folder / "secret"));
  ASSERT_EQ(::chmod((folder / "secret").c_str(), 0), 0);
  constexpr uid_t kNobody = 65534;
  const bool root = ::geteuid() == 0;  // who reads every file
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  if (root && ::seteuid(kNobody) != 0) GTEST_SKIP() << "runs as root and cannot become another user";
  expect_both(folder / "secret", Code::invalid, {"secret", "Permission denied"});
  ASSERT_TRUE(!root || ::seteuid(0) == 0);
}

TEST(ByteSource, pb39_names_of_every_kind) {
  TempFolder folder;
  const std::string names[] = {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
                               "a\xe3\x80\x80"
                               "b",
                               "e\xcc\x81",
                               "\xf0\x9f\x92\xaa",
                               "it's \"so\"",
                               "\xff\xfe",
                               std::string(255, 'n'),
                               "new\nline"};
  for (const std::string& name : names) {
    ASSERT_TRUE(small_file().write(folder / name));
    for (const bool use_mmap : {false, true}) EXPECT_TRUE(Gguf::open(folder / name, {.use_mmap = use_mmap}).ok()) << name;
  }
  std::filesystem::create_symlink(names[0], folder / "link");
  EXPECT_TRUE(Gguf::open(folder / "link", {}).ok());
}

size_t num_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(ByteSource, keeps_no_descriptor) {
  TempFolder folder;
  const auto paths = small_file().write_split(folder / "model", 3);
  ASSERT_TRUE(write_file(folder / "bad", Bytes(100)));
  const size_t before = num_descriptors();
  for (const bool use_mmap : {false, true}) {
    const auto gguf = Gguf::open(paths[0], {.use_mmap = use_mmap});
    ASSERT_TRUE(gguf.ok());
    EXPECT_FALSE(Gguf::open(folder / "bad", {.use_mmap = use_mmap}).ok());
    EXPECT_EQ(num_descriptors(), before);
  }
}

TEST(ByteSource, a_read_file_needs_the_disk_no_more) {
  TempFolder folder;
  ASSERT_TRUE(small_file().write(folder / "model"));
  const auto gguf = Gguf::open(folder / "model", {.use_mmap = false});
  ASSERT_TRUE(gguf.ok());
  std::filesystem::resize_file(folder / "model", 0);
  EXPECT_EQ((*gguf)->find_tensor("third")->data.back(), std::byte{6});
  EXPECT_EQ(*(*gguf)->string("general.architecture"), "llama");
}

TEST(ByteSource, replacing_a_mapped_file_is_harmless) {
  TempFolder folder;
  ASSERT_TRUE(small_file().write(folder / "model") && write_file(folder / "next", Bytes(1)));
  const auto gguf = Gguf::open(folder / "model", {});
  ASSERT_TRUE(gguf.ok());
  std::filesystem::rename(folder / "next", folder / "model");
  EXPECT_EQ((*gguf)->find_tensor("third")->data.back(), std::byte{6});
}

uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A sparse file of 4 GiB: only the metadata may be touched, by either way of reading.
TEST(ByteSource, metadata_only_touches_only_metadata) {
  TempFolder folder;
  GgufWriter writer = small_file();
  writer.tensor("large", 24, {uint64_t{1} << 32}, Bytes(1));
  ASSERT_TRUE(writer.write(folder / "large"));
  std::filesystem::resize_file(folder / "large", (uint64_t{1} << 32) + 4096);
  const uint64_t before = resident_bytes();
  for (const bool use_mmap : {false, true}) {
    const auto gguf = Gguf::open(folder / "large", {.use_mmap = use_mmap, .metadata_only = true});
    if (!gguf.ok() && gguf.status().code() == Code::out_of_host_memory) continue;  // a machine that does not lend 4 GiB
    ASSERT_TRUE(gguf.ok()) << gguf.status().message();
    EXPECT_LT(resident_bytes(), before + (8u << 20));
  }
  const auto mapped = Gguf::open(folder / "large", {});  // mapped, even the tensors cost nothing until they are used
  ASSERT_TRUE(mapped.ok()) << mapped.status().message();
  EXPECT_LT(resident_bytes(), before + (8u << 20));
  EXPECT_EQ((*mapped)->find_tensor("large")->data.back(), std::byte{0});
}

// Garbage in a large file is refused after its first bytes, without reading the rest.
TEST(ByteSource, large_garbage_is_refused_at_once) {
  TempFolder folder;
  ASSERT_TRUE(write_file(folder / "zeros", {}));
  std::filesystem::resize_file(folder / "zeros", uint64_t{1} << 30);
  const uint64_t before = resident_bytes();
  expect_both(folder / "zeros", Code::invalid, {"not a GGUF file"});
  EXPECT_LT(resident_bytes(), before + (8u << 20));
}

uint64_t peak_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    uint64_t kilobytes = 0;
    if (word == "VmHWM:" && in >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

// The worst file known: as many empty strings, tensors and keys as it can declare. Memory stays below its size plus 64 MiB.
TEST(ByteSource, pb35_parsing_memory_is_bounded) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory hides what is measured";
  Bytes bytes;
  {
    GgufWriter writer;
    Bytes strings;
    append<uint32_t>(strings, kString), append<uint64_t>(strings, 2097152);
    strings.resize(strings.size() + 8 * 2097152);
    writer.raw("strings", kArray, std::move(strings));
    for (int i = 0; i < 65000; ++i) writer.add<uint8_t>(std::to_string(i), 1);
    for (int i = 0; i < 65000; ++i) writer.tensor(std::to_string(i), 24, {1}, Bytes(1));
    bytes = writer.bytes();
  }
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak becomes what is resident now
  const uint64_t before = peak_bytes();
  if (before > resident_bytes() + (8u << 20)) GTEST_SKIP() << "the system does not let a process reset its peak";
  ASSERT_TRUE(Gguf::parse(bytes, {}).ok());
  EXPECT_GT(peak_bytes(), before + (16u << 20));  // the measure works: the views alone need 32 MiB
  EXPECT_LT(peak_bytes(), before + (64u << 20));
}

}  // namespace

}  // namespace gainz::test
