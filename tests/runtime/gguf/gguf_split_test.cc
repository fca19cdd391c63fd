// Split models: read as one, and refused where a part is missing, short, misnamed or from another model.
#include "runtime/gguf/gguf_test_util.h"

namespace gainz::test {

namespace {

class GgufSplit : public testing::Test {
 protected:
  void SetUp() override {
    paths_ = small_file().write_split(folder_ / "model", 3);
    ASSERT_EQ(paths_.size(), 3u);
  }
  Status open() const { return Gguf::open(paths_[0], {}).status(); }

  TempFolder folder_;
  std::vector<std::string> paths_;
};

TEST_F(GgufSplit, reads_as_one_file) {
  for (const bool use_mmap : {false, true}) {
    const auto gguf = Gguf::open(paths_[0], {.use_mmap = use_mmap});
    ASSERT_TRUE(gguf.ok()) << gguf.status().message();
    ASSERT_EQ((*gguf)->tensors().size(), 3u);
    uint64_t size = 0;
    for (const std::string& path : paths_) size += std::filesystem::file_size(path);
    EXPECT_EQ((*gguf)->size_bytes(), size);
    const GgufTensor* third = (*gguf)->find_tensor("third");
    ASSERT_NE(third, nullptr);
    EXPECT_EQ(third->shard, 2u);
    EXPECT_EQ(Bytes(third->data.begin(), third->data.end()), pattern_bytes(4, 3));
    EXPECT_EQ(*(*gguf)->u64("k.u8"), 200u);
  }
}

TEST_F(GgufSplit, metadata_only_reads_the_named_file_alone) {
  std::filesystem::remove(paths_[1]);
  const auto gguf = Gguf::open(paths_[0], {.use_mmap = true, .metadata_only = true});
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ((*gguf)->tensors().size(), 1u);
  EXPECT_EQ(*(*gguf)->string("general.architecture"), "llama");
}

TEST_F(GgufSplit, refuses_a_later_part_as_the_model) {
  expect_error(Gguf::open(paths_[1], {}).status(), Code::invalid, {"model-00002-of-00003.gguf", "part 2 of 3", "open part 1"});
}

TEST_F(GgufSplit, pb38_part_missing) {
  std::filesystem::remove(paths_[2]);
  expect_error(open(), Code::not_found, {"model-00003-of-00003.gguf", "No such file"});
}

TEST_F(GgufSplit, pb38_part_short) {
  std::filesystem::resize_file(paths_[1], std::filesystem::file_size(paths_[1]) - 40);
  expect_error(open(), Code::invalid, {"model-00002-of-00003.gguf", "truncated", "second", "needs"});
}

TEST_F(GgufSplit, pb38_parts_exchanged) {
  std::filesystem::copy_file(paths_[2], paths_[1], std::filesystem::copy_options::overwrite_existing);
  expect_error(open(), Code::invalid, {"model-00002-of-00003.gguf", "part 3 of 3", "expected part 2 of 3"});
}

TEST_F(GgufSplit, pb38_part_of_a_model_with_other_parts) {
  const auto other = small_file().write_split(folder_ / "other", 2);
  std::filesystem::copy_file(other[1], paths_[1], std::filesystem::copy_options::overwrite_existing);
  expect_error(open(), Code::invalid, {"part 2 of 2", "expected part 2 of 3", "another model"});
}

TEST_F(GgufSplit, pb38_part_of_a_model_with_other_tensors) {
  GgufWriter more = small_file();
  more.tensor("fourth", 24, {1}, Bytes(1));
  const auto other = more.write_split(folder_ / "other", 3);
  std::filesystem::copy_file(other[1], paths_[1], std::filesystem::copy_options::overwrite_existing);
  expect_error(open(), Code::invalid, {"split.tensors.count", "is 4", "first part 3"});
}

TEST_F(GgufSplit, pb38_part_with_the_same_tensor) {
  GgufWriter renamed = small_file();
  renamed.tensors[1].name = "first";
  const auto other = renamed.write_split(folder_ / "other", 3);
  std::filesystem::copy_file(other[1], paths_[1], std::filesystem::copy_options::overwrite_existing);
  expect_error(open(), Code::invalid, {"model-00002-of-00003.gguf", "\"first\"", "model-00001-of-00003.gguf"});
}

void write_part(const std::string& path, GgufWriter part, uint16_t number, uint16_t count, int32_t num_tensors) {
  part.add<uint16_t>("split.no", number).add<uint16_t>("split.count", count).add<int32_t>("split.tensors.count", num_tensors);
  ASSERT_TRUE(part.write(path));
}

TEST_F(GgufSplit, pb38_part_with_other_keys) {
  GgufWriter part;
  part.tensor("second", 8, {32}, Bytes(34));
  part.string("general.architecture", "qwen2");
  write_part(paths_[1], part, 1, 3, 3);
  expect_error(open(), Code::invalid, {"model-00002-of-00003.gguf", "general.architecture", "qwen2", "llama", "another model"});
  part.remove("general.architecture").string("unheard.of", "x");
  write_part(paths_[1], part, 1, 3, 3);
  expect_error(open(), Code::invalid, {"unheard.of", "absent"});
  part.remove("unheard.of")
      .string("general.architecture", "llama")
      .array<int32_t>("k.i32s", {1, -2, 3});  // the same is no fault
  write_part(paths_[1], part, 1, 3, 3);
  EXPECT_TRUE(open().ok()) << open().message();
  part.remove("k.i32s").array<int32_t>("k.i32s", {1, -2, 4});
  write_part(paths_[1], part, 1, 3, 3);
  expect_error(open(), Code::invalid, {"k.i32s"});
}

TEST_F(GgufSplit, wrong_total_of_tensors) {
  GgufWriter part;
  write_part(paths_[1], part, 1, 3, 3);  // its tensor is gone
  expect_error(open(), Code::invalid, {"split.tensors.count", "is 3", "have 2"});
}

TEST_F(GgufSplit, bad_split_keys) {
  for (const int32_t number : {3, 4}) {
    GgufWriter writer;
    writer.add<uint16_t>("split.no", static_cast<uint16_t>(number)).add<uint16_t>("split.count", 3);
    expect_error(status_of(writer), Code::invalid, {"split.no", "not below"});
  }
  GgufWriter negative, text, memory;
  expect_error(status_of(negative.add<int32_t>("split.count", -1)), Code::invalid, {"split.count", "-1"});
  expect_error(status_of(text.string("split.count", "3")), Code::invalid, {"split.count", "text"});
  expect_error(status_of(memory.add<uint16_t>("split.count", 2)), Code::invalid, {"open it by path"});
}

TEST_F(GgufSplit, first_part_under_another_name) {
  const std::string renamed = folder_ / "renamed.gguf";
  std::filesystem::rename(paths_[0], renamed);
  expect_error(Gguf::open(renamed, {}).status(), Code::invalid, {"renamed.gguf", "-00001-of-00003.gguf"});
}

// What merging a split model leaves behind: count 0.
TEST_F(GgufSplit, merged_files_are_one) {
  GgufWriter writer = small_file();
  writer.add<uint16_t>("split.no", 0).add<uint16_t>("split.count", 0).add<int32_t>("split.tensors.count", 3);
  EXPECT_TRUE(status_of(writer).ok());
}

TEST_F(GgufSplit, alignment_of_the_parts) {
  GgufWriter writer = small_file();
  writer.alignment(64);
  const auto paths = writer.write_split(folder_ / "aligned", 3);
  const auto gguf = Gguf::open(paths[0], {});
  ASSERT_TRUE(gguf.ok()) << gguf.status().message();
  EXPECT_EQ((*gguf)->tensors()[2].file_offset % 64, 0u);
}

}  // namespace

}  // namespace gainz::test
