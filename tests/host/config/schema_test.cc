#include "config/schema.h"

#include <gmock/gmock.h>

#include <set>

namespace gainz::host {
namespace {

TEST(HostSchema, EveryDefaultPassesItsOwnRules) {
  for (const Key& key : kSchema) {
    const Result<Value> value = parse_value(key, key.standard);
    ASSERT_TRUE(value.ok()) << key.name << ": " << value.failure().sentence;
    EXPECT_EQ(value->index(), static_cast<size_t>(key.type)) << key.name;
    EXPECT_FALSE(key.doc.empty()) << key.name;
  }
}

TEST(HostSchema, NamesAreDistinctEverywhere) {
  std::set<std::string> dotted, variables, flags;
  for (const Key& key : kSchema) {
    EXPECT_TRUE(dotted.insert(dotted_name(key)).second) << key.name;
    EXPECT_TRUE(variables.insert(environment_name(key)).second) << environment_name(key);
    if (key.flag.empty()) continue;
    EXPECT_TRUE(flags.insert(long_flag(key)).second) << key.flag;
  }
}

TEST(HostSchema, RangesAndTypesAreTold) {
  const auto sentence = [](size_t index, const char* text) { return parse_value(kSchema[index], text).failure().sentence; };
  EXPECT_EQ(sentence(key("context"), "many"), "context must be an integer from 0 to 16777216, not \"many\"");
  EXPECT_EQ(sentence(key("context"), "-1"), "context must be an integer from 0 to 16777216, not -1");
  EXPECT_EQ(sentence(key("sampling.top_p"), "1.5"), "sampling.top_p must be a number from 0 to 1, not 1.5");
  EXPECT_EQ(sentence(key("mmap"), "yes"), "mmap must be true or false, not \"yes\"");
  EXPECT_EQ(sentence(key("fallback"), "error|scalar"), "fallback must be one of \"error\", \"scalar\", not \"error|scalar\"");
  EXPECT_THAT(sentence(key("speculation"), "turbo"),
              testing::StartsWith("speculation must be \"auto\", \"off\", or some of ngram, "));
  EXPECT_FALSE(check_value(kSchema[key("sampling.top_p")], Value(std::string("1"))).ok());
  EXPECT_FALSE(check_value(kSchema[key("context")], Value(1.0)).ok());
  EXPECT_TRUE(check_value(kSchema[key("sampling.top_p")], Value(int64_t{1})).ok());  // 1 for 1.0
  EXPECT_FALSE(check_value(kSchema[key("backend")], Value(std::string("a\0b", 3))).ok());
  for (const char* number : {"nan", "inf", "1e400", ""})
    EXPECT_FALSE(parse_value(kSchema[key("sampling.temperature")], number).ok()) << number;
}

TEST(HostSchema, SecretsAreMasked) {
  Key secret = kSchema[key("backend")];
  secret.flags |= kSecret;
  EXPECT_EQ(shown_value(secret, Value(std::string("hunter2"))), "\"***\"");
  EXPECT_EQ(shown_value(secret, Value(std::string())), "\"\"");
  EXPECT_EQ(shown_value(kSchema[key("backend")], Value(std::string("a\"b\\\n"))), "\"a\\\"b\\\\\\u000A\"");
}

}  // namespace
}  // namespace gainz::host
