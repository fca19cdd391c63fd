#include "server/api/unique_json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gainz::host {
namespace {

namespace json = boost::json;
constexpr size_t kDepth = 64;

TEST(ServerUniqueJson, IsWhatBoostReads) {
  for (const char* text : {"{}", "[]", "7", "\"x\"", "null", "true",
                           R"({"a":1,"b":[1,-2,3.5,1e300,18446744073709551615,{"a":[]}],"c":{"a":{"a":null}}})",
                           R"({"":"","é":"\u00e9\ud83d\ude00\n"})", "  [ 1 , 2 ]  ", R"([{"a":1},{"a":2}])"}) {
    const UniqueJson out = parse_unique_json(text, kDepth);
    EXPECT_FALSE(out.error) << text << ": " << out.error.message();
    EXPECT_EQ(out.value, json::parse(text)) << text;
    EXPECT_EQ(out.where, "") << text;
  }
}

// Longer than any buffer of the parser, so that names and texts come in parts.
TEST(ServerUniqueJson, LongNamesAndTexts) {
  const std::string name(10000, 'n'), escaped = name + "\\n\\u00e9" + name;
  const std::string text = "{\"" + escaped + "\":\"" + escaped + "\"}";
  const UniqueJson out = parse_unique_json(text, kDepth);
  ASSERT_FALSE(out.error) << out.error.message();
  EXPECT_EQ(out.value, json::parse(text));
  EXPECT_EQ(parse_unique_json("{\"" + escaped + "\":1,\"" + escaped + "\":2}", kDepth).where.size(), 2 * name.size() + 3);
}

TEST(ServerUniqueJson, ANameThatComesTwice) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"a":1,"a":1})", "a"},
      {R"({"a":1,"b":2,"\u0061":3})", "a"},
      {R"({"messages":[{},{"role":"x"},{"content":"x","content":"y"}]})", "messages[2].content"},
      {R"({"a":[[1,2],[3,{"b":{"c":1,"d":[],"c":2}}]]})", "a[1][1].b.c"},
      {R"([1,[],{"a":{},"a":{}}])", "[2].a"},
      {R"({"a":{"x":1},"b":{"x":1},"b":7})", "b"}};
  for (const auto& [text, path] : kCases) {
    const UniqueJson out = parse_unique_json(text, kDepth);
    EXPECT_TRUE(out.error) << text;
    EXPECT_EQ(out.where, path) << text;
  }
}

TEST(ServerUniqueJson, WhatIsNoJson) {
  for (const char* text : {"", "{", "[1", "{\"a\"}", "{'a':1}", "[1] 2", "nul", "\"\x80\"", "\"\\ud800\"", "\"\xed\xa0\x80\"",
                           "// c\n1", "[1,]", "01", "NaN"}) {
    const UniqueJson out = parse_unique_json(text, kDepth);
    EXPECT_TRUE(out.error) << text;
    EXPECT_EQ(out.where, "") << text;
  }
}

TEST(ServerUniqueJson, Numbers) {
  for (const char* number : {"1e999", "-1e400", "17976931348623157e400"}) {
    const UniqueJson out = parse_unique_json("{\"a\":[0," + std::string(number) + "]}", kDepth);
    EXPECT_TRUE(out.error) << number;
    EXPECT_EQ(out.where, "a[1]");
    EXPECT_EQ(out.problem, "is a number beyond the range of a double");
  }
  EXPECT_FALSE(parse_unique_json("1e999", kDepth).problem.empty()) << "of no field";
  for (const char* zero : {"0e400", "-0.0e999", "0.000E+400"})
    EXPECT_EQ(parse_unique_json(zero, kDepth).value.to_number<double>(), 0) << zero;
  EXPECT_EQ(parse_unique_json("1e-999", kDepth).value, 0.0);
}

TEST(ServerUniqueJson, NamesOfAnObject) {
  const auto names = [](size_t count) {
    std::string text = "[{";
    for (size_t i = 0; i < count; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
    return text + "}]";
  };
  EXPECT_EQ(parse_unique_json(names(kMaxNames), kDepth).value.at(0).as_object().size(), kMaxNames);
  EXPECT_EQ(parse_unique_json(names(kMaxNames + 1), kDepth).error, json::error::object_too_large);
}

TEST(ServerUniqueJson, Depth) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_FALSE(parse_unique_json(nested(5), 5).error);
  EXPECT_EQ(parse_unique_json(nested(6), 5).error, json::error::too_deep);
  EXPECT_EQ(parse_unique_json(std::string(1000000, '['), 5).error, json::error::too_deep);
}

}  // namespace
}  // namespace gainz::host
