// Typed access: each type, each conversion that fits, and an error naming key, type and value for each that does not.
#include <cmath>
#include <limits>

#include "runtime/gguf/gguf_test_util.h"

namespace gainz::test {

namespace {

class GgufValues : public testing::Test {
 protected:
  void SetUp() override { reopen(small_file()); }
  void reopen(const GgufWriter& writer) {
    bytes_ = writer.bytes();
    auto gguf = Gguf::parse(bytes_, {});
    ASSERT_TRUE(gguf.ok()) << gguf.status().message();
    gguf_ = *gguf;
  }
  Bytes bytes_;
  std::shared_ptr<const Gguf> gguf_;
};

TEST_F(GgufValues, whole_numbers) {
  EXPECT_EQ(*gguf_->u64("k.u8"), 200u);
  EXPECT_EQ(*gguf_->u64("k.u16"), 60000u);
  EXPECT_EQ(*gguf_->u64("k.u32"), 4000000000u);
  EXPECT_EQ(*gguf_->u64("k.u64"), UINT64_MAX);
  EXPECT_THAT(*gguf_->integers("k.i8"), testing::ElementsAre(-100));
  EXPECT_THAT(*gguf_->integers("k.i16"), testing::ElementsAre(-30000));
  EXPECT_THAT(*gguf_->integers("k.i32"), testing::ElementsAre(-2000000000));
  EXPECT_THAT(*gguf_->integers("k.i64"), testing::ElementsAre(INT64_MIN));
  EXPECT_THAT(*gguf_->integers("k.i32s"), testing::ElementsAre(1, -2, 3));
  expect_error(gguf_->u64("k.i8").status(), Code::invalid, {"k.i8", "-100"});
  expect_error(gguf_->integers("k.u64").status(), Code::invalid, {"k.u64", "18446744073709551615"});
}

TEST_F(GgufValues, floats_booleans_texts) {
  EXPECT_EQ(*gguf_->f64("k.f32"), 0.5);
  EXPECT_EQ(*gguf_->f64("k.f64"), 1e300);
  EXPECT_TRUE(*gguf_->boolean("k.bool"));
  EXPECT_THAT(*gguf_->floats("k.f32s"), testing::ElementsAre(0.25f, -1.0f));
  const auto strings = gguf_->strings("k.strings");
  ASSERT_TRUE(strings.ok());
  EXPECT_THAT(std::vector<std::string_view>(strings->begin(), strings->end()), testing::ElementsAre("a", "", "\xc3\xa9"));
}

TEST_F(GgufValues, absent_keys) {
  expect_error(gguf_->u64("nope").status(), Code::not_found, {"nope"});
  expect_error(gguf_->string("nope").status(), Code::not_found, {"nope"});
  expect_error(gguf_->strings("nope").status(), Code::not_found, {"nope"});
  expect_error(gguf_->integers("nope").status(), Code::not_found, {"nope"});
  EXPECT_FALSE(gguf_->has("nope"));
  EXPECT_EQ(*gguf_->u64_or("nope", 7), 7u);
  EXPECT_EQ(*gguf_->f64_or("nope", 0.5), 0.5);
  EXPECT_EQ(*gguf_->string_or("nope", "x"), "x");
  EXPECT_TRUE(*gguf_->boolean_or("nope", true));
}

// A default stands in for an absent key only, never for a wrong one.
TEST_F(GgufValues, wrong_types) {
  expect_error(gguf_->u64_or("k.f32", 1).status(), Code::invalid, {"k.f32", "float", "0.5"});
  expect_error(gguf_->f64_or("k.u8", 1).status(), Code::invalid, {"k.u8", "200"});
  expect_error(gguf_->boolean_or("k.u8", true).status(), Code::invalid, {"k.u8", "200"});
  expect_error(gguf_->string_or("k.bool", "").status(), Code::invalid, {"k.bool", "true"});
  expect_error(gguf_->string("k.strings").status(), Code::invalid, {"k.strings", "array of 3 string", "\"a\""});
  expect_error(gguf_->strings("k.i32s").status(), Code::invalid, {"k.i32s", "array of 3 i32", "1, -2, 3"});
  expect_error(gguf_->floats("k.i32s").status(), Code::invalid, {"k.i32s"});
  expect_error(gguf_->integers("k.f32s").status(), Code::invalid, {"k.f32s", "0.25"});
  expect_error(gguf_->integers("k.strings").status(), Code::invalid, {"k.strings"});
  expect_error(gguf_->integers("general.architecture").status(), Code::invalid, {"llama"});
}

TEST_F(GgufValues, every_array_type_as_integers) {
  GgufWriter writer;
  writer.array<uint8_t>("u8", {0, 255})
      .array<int8_t>("i8", {-128, 127})
      .array<uint16_t>("u16", {65535})
      .array<int16_t>("i16", {-32768});
  writer.array<uint32_t>("u32", {4294967295u}).array<int64_t>("i64", {INT64_MIN}).array<uint64_t>("u64", {INT64_MAX});
  writer.array<bool>("bool", {true, false}).array<uint64_t>("big", {0, uint64_t{INT64_MAX} + 1}).array<int32_t>("none", {});
  reopen(writer);
  EXPECT_THAT(*gguf_->integers("u8"), testing::ElementsAre(0, 255));
  EXPECT_THAT(*gguf_->integers("i8"), testing::ElementsAre(-128, 127));
  EXPECT_THAT(*gguf_->integers("u16"), testing::ElementsAre(65535));
  EXPECT_THAT(*gguf_->integers("i16"), testing::ElementsAre(-32768));
  EXPECT_THAT(*gguf_->integers("u32"), testing::ElementsAre(4294967295));
  EXPECT_THAT(*gguf_->integers("i64"), testing::ElementsAre(INT64_MIN));
  EXPECT_THAT(*gguf_->integers("u64"), testing::ElementsAre(INT64_MAX));
  EXPECT_THAT(*gguf_->integers("bool"), testing::ElementsAre(1, 0));
  EXPECT_THAT(*gguf_->integers("none"), testing::ElementsAre());
  expect_error(gguf_->integers("big").status(), Code::invalid, {"big", "element 1", "9223372036854775808"});
}

TEST_F(GgufValues, non_finite_floats_are_read_as_they_are) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  GgufWriter writer;
  writer.array<float>("f32s", {kInf, -kInf, kNan}).array<double>("f64s", {1.5, HUGE_VAL}).array<double>("wide", {0, 1e39});
  writer.f32("inf", kInf);
  reopen(writer);
  const auto values = gguf_->floats("f32s");
  ASSERT_TRUE(values.ok());
  EXPECT_EQ((*values)[0], kInf);
  EXPECT_EQ((*values)[1], -kInf);
  EXPECT_TRUE(std::isnan((*values)[2]));
  EXPECT_THAT(*gguf_->floats("f64s"), testing::ElementsAre(1.5f, kInf));
  EXPECT_EQ(*gguf_->f64("inf"), HUGE_VAL);
  expect_error(gguf_->floats("wide").status(), Code::invalid, {"wide", "element 1", "1e+39"});
}

TEST_F(GgufValues, nested_arrays_are_listed_but_have_no_typed_access) {
  Bytes payload;  // an array of one array of two u8
  append<uint32_t>(payload, kArray), append<uint64_t>(payload, 1);
  append<uint32_t>(payload, kU8), append<uint64_t>(payload, 2), append<uint16_t>(payload, 0);
  GgufWriter writer;
  reopen(writer.raw("nested", kArray, payload).u32("after", 5));
  expect_error(gguf_->integers("nested").status(), Code::invalid, {"nested", "array of 1 array"});
  EXPECT_EQ(std::get<GgufArray>(gguf_->metadata().at("nested")).numbers.size(), 14u);
  EXPECT_EQ(*gguf_->u64("after"), 5u);
}

TEST_F(GgufValues, text_is_cut_and_escaped) {
  EXPECT_EQ(gguf_value_text(GgufValue(std::string_view("a\n\x1b[31m\"\xff")), 4), "the text \"a\\x0a\\x1b[31m\\x22\\xff\"");
  EXPECT_EQ(gguf_value_text(GgufValue(std::string_view("x")), 4), "the text \"x\"");
  EXPECT_LT(gguf_value_text(GgufValue(std::string_view(std::string(1000, 'x'))), 4).size(), 90u);
  EXPECT_EQ(gguf_value_text(gguf_->metadata().at("k.i32s"), 2), "an array of 3 i32 [1, -2, ...]");
}

}  // namespace

}  // namespace gainz::test
