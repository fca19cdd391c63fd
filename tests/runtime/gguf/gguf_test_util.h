// What the GGUF tests share: a folder that goes away, a small valid file, and the status of a file in memory.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gguf/gguf.h"
#include "support/gguf_writer.h"

namespace gainz::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gainz-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Bytes pattern_bytes(size_t size, uint8_t start) {
  Bytes out(size);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<std::byte>(start + i);
  return out;
}

// Three tensors (64 bytes, 36 of Q8_0 rows and 4), each kind of key-value.
inline GgufWriter small_file() {
  GgufWriter writer;
  writer.string("general.architecture", "llama").add<uint8_t>("k.u8", 200).add<int8_t>("k.i8", -100);
  writer.add<uint16_t>("k.u16", 60000)
      .add<int16_t>("k.i16", -30000)
      .u32("k.u32", 4000000000u)
      .add<int32_t>("k.i32", -2000000000);
  writer.add<uint64_t>("k.u64", UINT64_MAX).add<int64_t>("k.i64", INT64_MIN).f32("k.f32", 0.5f).add<double>("k.f64", 1e300);
  writer.boolean("k.bool", true).strings("k.strings", std::vector<std::string>{"a", "", "\xc3\xa9"});
  writer.array<int32_t>("k.i32s", {1, -2, 3}).array<float>("k.f32s", {0.25f, -1.0f});
  writer.tensor("first", 0, {4, 4}, pattern_bytes(64, 1));
  writer.tensor("second", 8, {32}, pattern_bytes(34, 2));
  writer.tensor("third", 24, {4}, pattern_bytes(4, 3));
  return writer;
}

inline Status status_of(const Bytes& bytes, bool metadata_only = false) {
  return Gguf::parse(bytes, {.use_mmap = true, .metadata_only = metadata_only}).status();
}
inline Status status_of(const GgufWriter& writer, bool metadata_only = false) {
  return status_of(writer.bytes(), metadata_only);
}

// The status is an error of that code whose sentence holds each of the texts.
inline void expect_error(const Status& status, Code code, const std::vector<std::string>& texts) {
  EXPECT_EQ(static_cast<int>(status.code()), static_cast<int>(code)) << status.message();
  for (const std::string& text : texts) EXPECT_THAT(status.message(), testing::HasSubstr(text));
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
}

}  // namespace gainz::test
