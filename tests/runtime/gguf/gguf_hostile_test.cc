// Files that lie. Each must end as an error that names the field, never as a signal or a large allocation.
#include <functional>

#include "runtime/gguf/gguf_test_util.h"

namespace gainz::test {

namespace {

struct Case {
  std::string name;
  std::function<void(GgufWriter&)> corrupt;
  std::vector<std::string> texts;  // in the sentence
  Code code = Code::invalid;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }  // keeps the test's listed name the same from run to run

GgufWriter::Tensor& second(GgufWriter& w) { return w.tensors[1]; }

Bytes payload(std::initializer_list<uint64_t> numbers, uint32_t type) {
  Bytes out;
  append<uint32_t>(out, type);
  for (const uint64_t number : numbers) append<uint64_t>(out, number);
  return out;
}

std::vector<Case> shape_cases() {
  const auto dims = [](std::vector<uint64_t> d) { return [d](GgufWriter& w) { second(w).dims = d; }; };
  const auto offset = [](uint64_t o) { return [o](GgufWriter& w) { second(w).offset = o; }; };
  return {
      {"product_2_64", dims({uint64_t{1} << 32, uint64_t{1} << 32}), {"second", "dimension 1", "limit"}},
      {"product_wraps_to_small", dims({uint64_t{1} << 63, 2, 32}), {"second", "dimension 0"}},
      {"product_wraps_in_the_last", dims({32, uint64_t{1} << 20, uint64_t{1} << 20, uint64_t{1} << 24}), {"dimension 3"}},
      {"dim_zero", dims({0}), {"second", "dimension 0", "is 0"}},
      {"dim_zero_later", dims({32, 0}), {"second", "dimension 1", "is 0"}},
      {"dim_negative", dims({32, UINT64_MAX}), {"second", "dimension 1", "is -1"}},
      {"row_not_whole_blocks", dims({33}), {"second", "33", "Q8_0", "32"}},
      {"no_dims", [](GgufWriter& w) { second(w).num_dims = 0; }, {"second", "number of dimensions", "0"}},
      {"five_dims", dims({32, 1, 1, 1, 1}), {"second", "number of dimensions", "5"}},
      {"dims_2_32", [](GgufWriter& w) { second(w).num_dims = UINT32_MAX; }, {"second", "4294967295"}},
      {"offset_unaligned", offset(65), {"second", "65", "alignment 32"}},
      {"offset_overlaps", offset(32), {"second", "before the end"}},
      {"offset_decreases", [](GgufWriter& w) { w.tensors[2].offset = 0; }, {"third", "before the end"}},
      {"offset_beyond_file", offset(1 << 20), {"second", "truncated", "needs"}},
      {"offset_huge", offset(UINT64_MAX - 31), {"second", "beyond any file"}},
      {"offset_wraps_with_size", offset((uint64_t{1} << 63) - 32), {"second", "truncated"}},
      {"size_beyond_file", dims({32, uint64_t{1} << 40}), {"second", "truncated", "needs"}},
      {"type_unknown", [](GgufWriter& w) { second(w).type = 77; }, {"second", "77"}, Code::unsupported},
      {"type_removed", [](GgufWriter& w) { second(w).type = 31; }, {"second", "31", "Q4_0_4_4"}, Code::unsupported},
      {"type_negative", [](GgufWriter& w) { second(w).type = UINT32_MAX; }, {"second", "4294967295"}, Code::unsupported},
      {"name_twice", [](GgufWriter& w) { w.tensors[2].name = "first"; }, {"first", "twice"}},
      {"name_empty", [](GgufWriter& w) { second(w).name = ""; }, {"tensor 1", "empty"}},
      {"name_with_zero", [](GgufWriter& w) { second(w).name = std::string("a\0b", 3); }, {"tensor 1", "zero byte"}},
  };
}

std::vector<Case> header_cases() {
  const auto alignment = [](uint32_t a) { return [a](GgufWriter& w) { w.u32("general.alignment", a); }; };
  return {
      {"magic", [](GgufWriter& w) { w.magic = 0x46554748; }, {"not a GGUF file"}},
      {"tensors_negative", [](GgufWriter& w) { w.num_tensors = UINT64_MAX; }, {"number of tensors", "limit"}},
      {"tensors_too_many", [](GgufWriter& w) { w.num_tensors = 60000; }, {"truncated", "number of tensors", "60000"}},
      {"tensors_one_more", [](GgufWriter& w) { w.num_tensors = 4; }, {}},
      {"keys_negative", [](GgufWriter& w) { w.num_key_values = UINT64_MAX; }, {"number of key-values", "limit"}},
      {"keys_too_many", [](GgufWriter& w) { w.num_key_values = 60000; }, {"truncated", "number of key-values"}},
      {"keys_one_more", [](GgufWriter& w) { w.num_key_values = 17; }, {}},
      {"alignment_0", alignment(0), {"general.alignment", "is 0"}},
      {"alignment_3", alignment(3), {"general.alignment", "is 3"}},
      {"alignment_4", alignment(4), {"general.alignment", "is 4"}},
      {"alignment_48", alignment(48), {"general.alignment", "is 48"}},
      {"alignment_2_31", alignment(1u << 31), {"general.alignment", "2147483648"}},
      {"alignment_not_that_of_the_layout", alignment(128), {"second", "multiple of the alignment 128"}},
      {"alignment_signed", [](GgufWriter& w) { w.add<int32_t>("general.alignment", 32); }, {"general.alignment", "number 32"}},
      {"alignment_float", [](GgufWriter& w) { w.f32("general.alignment", 32); }, {"general.alignment", "float 32"}},
      {"alignment_text", [](GgufWriter& w) { w.string("general.alignment", "32"); }, {"general.alignment", "text"}},
      {"alignment_array", [](GgufWriter& w) { w.array<uint32_t>("general.alignment", {32}); }, {"general.alignment", "array"}},
  };
}

std::vector<Case> value_cases() {
  const auto raw = [](uint32_t type, Bytes bytes) { return [type, bytes](GgufWriter& w) { w.raw("bad.key", type, bytes); }; };
  const uint64_t huge = uint64_t{1} << 40;
  return {
      {"key_twice", [](GgufWriter& w) { w.u32("k.u8", 1); }, {"k.u8", "twice"}},
      {"key_empty", [](GgufWriter& w) { w.u32("", 1); }, {"key-value 15", "empty"}},
      {"key_with_zero", [](GgufWriter& w) { w.u32(std::string("a\0b", 3), 1); }, {"key-value 15", "zero byte"}},
      {"value_type_unknown", raw(13, Bytes(8)), {"bad.key", "13"}},
      {"value_type_negative", raw(UINT32_MAX, Bytes(8)), {"bad.key", "4294967295"}},
      {"boolean_2", raw(kBool, Bytes(1, std::byte{2})), {"bad.key", "is 2"}},
      {"booleans_2",
       raw(kArray,
           [] {
             Bytes b = payload({1}, kBool);
             b.push_back(std::byte{2});
             return b;
           }()),
       {"bad.key", "0 or 1"}},
      {"string_longer_than_file", raw(kString, payload({1000000}, 0)), {"bad.key"}},
      {"array_2_40_u8", raw(kArray, payload({huge}, kU8)), {"bad.key", "limit"}},
      {"array_2_40_strings", raw(kArray, payload({huge}, kString)), {"bad.key", "limit"}},
      {"array_2_40_arrays", raw(kArray, payload({huge}, kArray)), {"bad.key", "limit"}},
      {"array_negative", raw(kArray, payload({UINT64_MAX}, kF64)), {"bad.key", "limit"}},
      {"array_size_wraps", raw(kArray, payload({(uint64_t{1} << 61) + 1}, kF64)), {"bad.key", "limit"}},
      {"array_longer_than_file", raw(kArray, payload({1 << 20}, kF64)), {"bad.key", "truncated", "needs"}},
      {"strings_longer_than_file", raw(kArray, payload({1 << 20}, kString)), {"bad.key", "truncated"}},
      {"array_element_type_unknown", raw(kArray, payload({1, 0}, 99)), {"bad.key", "element type", "99"}},
      {"string_in_array_longer_than_file", raw(kArray, payload({1, 1000000}, kString)), {"bad.key", "truncated"}},
  };
}

class GgufHostile : public testing::TestWithParam<Case> {};

TEST_P(GgufHostile, pb35_is_an_error_naming_the_field) {
  GgufWriter writer = small_file();
  GetParam().corrupt(writer);
  expect_error(status_of(writer), GetParam().code, GetParam().texts);
  (void)status_of(writer, true);  // may succeed where only the data is wrong
}

const auto kName = [](const auto& param_info) { return param_info.param.name; };
INSTANTIATE_TEST_SUITE_P(shape, GgufHostile, testing::ValuesIn(shape_cases()), kName);
INSTANTIATE_TEST_SUITE_P(header, GgufHostile, testing::ValuesIn(header_cases()), kName);
INSTANTIATE_TEST_SUITE_P(value, GgufHostile, testing::ValuesIn(value_cases()), kName);

TEST(GgufTruncated, pb38_cut_at_every_byte) {
  const GgufWriter writer = small_file();
  const Bytes whole = writer.bytes();
  const size_t data_end = whole.size() - 28;  // the last tensor has 4 bytes, then padding
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));  // a copy, so that reading beyond it is found
    const Status status = status_of(cut);
    ASSERT_EQ(status.ok(), size >= data_end) << size << ": " << status.message();
    ASSERT_EQ(status_of(cut, true).ok(), size >= writer.metadata_bytes()) << size;
    if (status.ok()) continue;
    EXPECT_THAT(status.message(), testing::HasSubstr("truncated")) << size;
    EXPECT_THAT(status.message(), testing::HasSubstr("the file has " + std::to_string(size))) << size;
  }
}

TEST(GgufTruncated, pb38_cut_on_disk_mapped_and_read) {
  TempFolder folder;
  const GgufWriter writer = small_file();
  const Bytes whole = writer.bytes();
  std::vector<size_t> sizes = writer.field_offsets();
  sizes.insert(sizes.end(), {whole.size() / 10, whole.size() / 2, whole.size() - 29});
  for (const size_t size : sizes) {
    ASSERT_TRUE(write_file(folder / "cut.gguf", std::span(whole).first(size)));
    for (const bool use_mmap : {false, true}) {
      const Status status = Gguf::open(folder / "cut.gguf", {.use_mmap = use_mmap}).status();
      expect_error(status, Code::invalid, {"cut.gguf", size == 0 ? "empty" : "truncated"});
    }
  }
}

// Every byte of the metadata set to each of a few values: an error or a file that can be used, never a crash.
TEST(GgufHostile, every_metadata_byte_changed) {
  const GgufWriter writer = small_file();
  Bytes bytes = writer.bytes();
  for (size_t i = 0; i < writer.metadata_bytes(); ++i) {
    const std::byte original = bytes[i];
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      bytes[i] = static_cast<std::byte>(value);
      const auto gguf = Gguf::parse(bytes, {});
      if (!gguf.ok()) continue;
      for (const GgufTensor& tensor : (*gguf)->tensors()) {
        ASSERT_GE(tensor.data.data(), bytes.data());
        ASSERT_LE(tensor.data.data() + tensor.data.size(), bytes.data() + bytes.size());
      }
    }
    bytes[i] = original;
  }
}

}  // namespace

}  // namespace gainz::test
