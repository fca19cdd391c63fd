// Each limit of limits.h is crossed once and met once.
#include "gguf/limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>

#include "runtime/gguf/gguf_test_util.h"

namespace gainz::test {

namespace {

TEST(GgufLimits, table_lists_each_once) {
  std::set<std::string_view> names;
  for (const GgufLimit& limit : kGgufLimits) {
    EXPECT_TRUE(limit.name.starts_with("gguf_"));
    EXPECT_GT(limit.value, 0u);
    EXPECT_TRUE(names.insert(limit.name).second) << limit.name;
  }
  EXPECT_EQ(names.size(), 13u);
}

TEST(GgufLimits, key_values) {
  GgufWriter writer;
  for (uint64_t i = 0; i < kGgufMaxKeyValues; ++i) writer.add<uint8_t>("k" + std::to_string(i), 1);
  EXPECT_TRUE(status_of(writer).ok());
  writer.add<uint8_t>("one more", 1);
  expect_error(status_of(writer), Code::invalid, {"number of key-values", "65537", "limit is 65536"});
}

TEST(GgufLimits, tensors) {
  GgufWriter writer;
  for (uint64_t i = 0; i < kGgufMaxTensors; ++i) writer.tensor("t" + std::to_string(i), 24, {1}, Bytes(1));
  EXPECT_TRUE(status_of(writer).ok());
  writer.tensor("one more", 24, {1}, Bytes(1));
  expect_error(status_of(writer), Code::invalid, {"number of tensors", "65537", "limit is 65536"});
}

TEST(GgufLimits, key_bytes) {
  GgufWriter writer;
  writer.u32(std::string(kGgufMaxKeyBytes, 'k'), 1);
  EXPECT_TRUE(status_of(writer).ok());
  writer.u32(std::string(kGgufMaxKeyBytes + 1, 'l'), 1);
  expect_error(status_of(writer), Code::invalid, {"key-value 1", "65536", "limit is 65535"});
}

TEST(GgufLimits, tensor_name_bytes) {
  GgufWriter writer;
  writer.tensor(std::string(kGgufMaxTensorNameBytes, 't'), 24, {1}, Bytes(1));
  EXPECT_TRUE(status_of(writer).ok());
  writer.tensor(std::string(kGgufMaxTensorNameBytes + 1, 't'), 24, {1}, Bytes(1));
  expect_error(status_of(writer), Code::invalid, {"name of tensor 1", "256", "limit is 255"});
}

// The string lies in the hole of a sparse file, so that the test needs neither disk nor memory.
TEST(GgufLimits, string_bytes) {
  TempFolder folder;
  for (const uint64_t over : {0, 1}) {
    Bytes head;
    append<uint32_t>(head, 0x46554747), append<uint32_t>(head, 3), append<uint64_t>(head, 0), append<uint64_t>(head, 1);
    append_string(head, "k"), append<uint32_t>(head, kString), append<uint64_t>(head, kGgufMaxStringBytes + over);
    ASSERT_TRUE(write_file(folder / "long.gguf", head));
    ASSERT_EQ(::truncate((folder / "long.gguf").c_str(), static_cast<off_t>(head.size() + kGgufMaxStringBytes + over)), 0);
    const Status status = Gguf::open(folder / "long.gguf", {}).status();
    if (over == 0) {
      EXPECT_TRUE(status.ok()) << status.message();
    } else {
      expect_error(status, Code::invalid, {"\"k\"", "268435457", "limit is 268435456"});
    }
  }
}

TEST(GgufLimits, strings_of_all_arrays) {
  Bytes half;
  append<uint32_t>(half, kString), append<uint64_t>(half, kGgufMaxStrings / 2);
  half.resize(half.size() + 8 * (kGgufMaxStrings / 2));
  GgufWriter writer;
  writer.raw("a", kArray, half).raw("b", kArray, half);
  EXPECT_TRUE(status_of(writer).ok());
  writer.strings("c", std::vector<std::string>{"one more"});
  expect_error(status_of(writer), Code::invalid, {"\"c\"", "2097153", "limit is 2097152"});
}

TEST(GgufLimits, array_elements) {
  for (const uint64_t over : {0, 1}) {
    Bytes payload;
    append<uint32_t>(payload, kU8), append<uint64_t>(payload, kGgufMaxArrayElements + over);
    payload.resize(payload.size() + kGgufMaxArrayElements + over);
    GgufWriter writer;
    const Status status = status_of(writer.raw("k", kArray, std::move(payload)));
    if (over == 0) {
      EXPECT_TRUE(status.ok()) << status.message();
    } else {
      expect_error(status, Code::invalid, {"\"k\"", "16777217", "limit is 16777216"});
    }
  }
}

TEST(GgufLimits, array_depth) {
  for (const uint64_t over : {0, 1}) {
    Bytes payload;
    for (uint64_t depth = 1; depth < kGgufMaxArrayDepth + over; ++depth)
      append<uint32_t>(payload, kArray), append<uint64_t>(payload, 1);
    append<uint32_t>(payload, kU8), append<uint64_t>(payload, 1), append<uint8_t>(payload, 0);
    GgufWriter writer;
    const Status status = status_of(writer.raw("k", kArray, payload));
    if (over == 0) {
      EXPECT_TRUE(status.ok()) << status.message();
    } else {
      expect_error(status, Code::invalid, {"\"k\"", "nested", "limit of 4"});
    }
  }
}

TEST(GgufLimits, array_depth_of_a_million) {
  Bytes payload;
  for (int depth = 0; depth < 1000000; ++depth) append<uint32_t>(payload, kArray), append<uint64_t>(payload, 1);
  GgufWriter writer;
  expect_error(status_of(writer.raw("k", kArray, payload)), Code::invalid, {"nested"});
}

TEST(GgufLimits, dims) {
  GgufWriter writer;
  writer.tensor("t", 24, std::vector<uint64_t>(kGgufMaxDims, 1), Bytes(1));
  EXPECT_TRUE(status_of(writer).ok());
  writer.tensor("u", 24, std::vector<uint64_t>(kGgufMaxDims + 1, 1), Bytes(1));
  expect_error(status_of(writer), Code::invalid, {"\"u\"", "is 5", "1 to 4"});
}

TEST(GgufLimits, tensor_elements) {
  GgufWriter writer;
  writer.tensor("t", 28, {uint64_t{1} << 24, uint64_t{1} << 24}, Bytes(1));
  EXPECT_TRUE(status_of(writer, true).ok());
  writer.tensors[0].dims = {(uint64_t{1} << 24) + 1, uint64_t{1} << 24};
  expect_error(status_of(writer, true), Code::invalid, {"\"t\"", "limit of 281474976710656"});
}

TEST(GgufLimits, alignment) {
  for (const uint64_t alignment : {kGgufMinAlignment, kGgufMaxAlignment}) {
    GgufWriter writer;
    EXPECT_TRUE(status_of(writer.alignment(static_cast<uint32_t>(alignment))).ok());
  }
  for (const uint64_t alignment : {kGgufMinAlignment / 2, kGgufMaxAlignment * 2}) {
    GgufWriter writer;
    expect_error(status_of(writer.alignment(static_cast<uint32_t>(alignment))), Code::invalid,
                 {"general.alignment", "8 to 1048576"});
  }
}

TEST(GgufLimits, shards) {
  GgufWriter writer;
  writer.add<uint16_t>("split.no", 0).add<uint16_t>("split.count", static_cast<uint16_t>(kGgufMaxShards + 1));
  expect_error(status_of(writer, true), Code::invalid, {"split.count", "1025", "limit is 1024"});
  EXPECT_TRUE(status_of(writer.remove("split.count").add<uint16_t>("split.count", kGgufMaxShards), true).ok());
}

}  // namespace

}  // namespace gainz::test
