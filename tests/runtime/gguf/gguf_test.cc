// Well-formed files: what was written is what is read, by every way of opening.
#include "gguf/gguf.h"

#include "runtime/gguf/gguf_test_util.h"

namespace gainz::test {

namespace {

void expect_small_file(const Gguf& gguf, bool with_data) {
  ASSERT_EQ(gguf.tensors().size(), 3u);
  const GgufTensor& first = gguf.tensors()[0];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.type, 0u);
  EXPECT_THAT(first.dims, testing::ElementsAre(4, 4));
  EXPECT_EQ(gguf_tensor_bytes(first), 64u);
  EXPECT_EQ(gguf_tensor_bytes(gguf.tensors()[1]), 34u);
  EXPECT_EQ(gguf.find_tensor("third"), &gguf.tensors()[2]);
  EXPECT_EQ(gguf.find_tensor("thir"), nullptr);
  EXPECT_EQ(gguf.find_tensor(""), nullptr);
  const Bytes expected[] = {pattern_bytes(64, 1), pattern_bytes(34, 2), pattern_bytes(4, 3)};
  for (size_t i = 0; i < 3; ++i) {
    const auto data = gguf.tensors()[i].data;
    EXPECT_EQ(Bytes(data.begin(), data.end()), with_data ? expected[i] : Bytes());
  }
  EXPECT_EQ(*gguf.string("general.architecture"), "llama");
}

TEST(Gguf, reads_from_memory) {
  const Bytes bytes = small_file().bytes();
  for (const bool metadata_only : {false, true}) {
    const auto gguf = Gguf::parse(bytes, {.use_mmap = true, .metadata_only = metadata_only});
    ASSERT_TRUE(gguf.ok()) << gguf.status().message();
    expect_small_file(**gguf, !metadata_only);
    EXPECT_EQ((*gguf)->size_bytes(), bytes.size());
  }
}

TEST(Gguf, reads_from_disk_mapped_and_read) {
  TempFolder folder;
  ASSERT_TRUE(small_file().write(folder / "small.gguf"));
  for (const bool use_mmap : {false, true}) {
    for (const bool metadata_only : {false, true}) {
      const auto gguf = Gguf::open(folder / "small.gguf", {use_mmap, metadata_only});
      ASSERT_TRUE(gguf.ok()) << gguf.status().message();
      expect_small_file(**gguf, !metadata_only);
    }
  }
}

TEST(Gguf, reads_version_2) {
  GgufWriter writer = small_file();
  writer.version = 2;
  EXPECT_TRUE(status_of(writer).ok());
}

TEST(Gguf, refuses_other_versions_and_byte_order) {
  for (const uint32_t version : {0u, 1u, 4u, 0x03000000u}) {
    GgufWriter writer = small_file();
    writer.version = version;
    expect_error(status_of(writer), Code::unsupported, {"version " + std::to_string(version)});
  }
  GgufWriter writer = small_file();
  writer.version = 0x03000000u;
  expect_error(status_of(writer), Code::unsupported, {"big-endian"});
}

TEST(Gguf, reads_any_valid_alignment) {
  for (const uint32_t alignment : {8u, 16u, 64u, 4096u, 1u << 20}) {
    GgufWriter writer = small_file();
    writer.alignment(alignment);
    const Bytes bytes = writer.bytes();
    const auto gguf = Gguf::parse(bytes, {});
    ASSERT_TRUE(gguf.ok()) << gguf.status().message();
    expect_small_file(**gguf, true);
    EXPECT_EQ((*gguf)->tensors()[1].file_offset % alignment, 0u);
  }
}

TEST(Gguf, reads_a_file_without_tensors_or_keys) {
  EXPECT_TRUE(status_of(GgufWriter()).ok());
  EXPECT_EQ(GgufWriter().bytes().size(), 24u);
}

TEST(Gguf, allows_gaps_and_bytes_after_the_last_tensor) {
  GgufWriter writer = small_file();
  writer.tensors[2].offset = 64 + 64 + 32;  // 32 more than needed
  Bytes bytes = writer.bytes();
  bytes.resize(bytes.size() + 100);
  EXPECT_TRUE(status_of(bytes).ok());
}

TEST(Gguf, accepts_known_types_that_cannot_be_loaded) {
  GgufWriter writer;
  writer.tensor("ternary", 34, {256}, Bytes(54));
  EXPECT_TRUE(status_of(writer).ok());
}

// A file cut after the metadata still serves its keys; with tensors it does not.
TEST(Gguf, metadata_only_needs_no_tensor_data) {
  const GgufWriter writer = small_file();
  Bytes bytes = writer.bytes();
  bytes.resize(writer.metadata_bytes());
  const auto gguf = Gguf::parse(bytes, {.use_mmap = true, .metadata_only = true});
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  expect_small_file(**gguf, false);
  expect_error(status_of(bytes), Code::invalid, {"truncated", "first"});
}

TEST(Gguf, opens_the_real_models_if_present) {
  const char* folder = std::getenv("GAINZ_MODELS");
  const char* home = std::getenv("HOME");
  const std::string models = folder != nullptr ? folder : std::string(home != nullptr ? home : "") + "/.cache/gainz/models";
  const std::string path = models + "/SmolLM2-135M-Instruct.Q4_1.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  const auto gguf = Gguf::open(path, {});
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ((*gguf)->tensors().size(), 272u);
  EXPECT_EQ((*gguf)->strings("tokenizer.ggml.tokens")->size(), 49152u);
  EXPECT_EQ(*(*gguf)->u64("llama.block_count"), 30u);
}

}  // namespace

}  // namespace gainz::test
