#include "server/api/json_fields.h"

#include <gtest/gtest.h>

#include "host/server/api/refused.h"

namespace gainz::host {
namespace {

namespace json = boost::json;
using test::error_of;
using test::expect_refused;

json::object parsed(std::string_view text) { return parse_body(text, 64); }

TEST(ServerJsonFields, Bodies) {
  EXPECT_EQ(parsed(R"({"a":1})").size(), 1U);
  const std::pair<std::string, const char*> kBad[] = {{"", "no valid JSON"},
                                                      {"[]", "must be a JSON object, not a list"},
                                                      {"7", "must be a JSON object, not 7"},
                                                      {"\"x\"", "must be a JSON object, not \"x\""},
                                                      {"{\"a\":\"\x80\"}", "no valid JSON"},
                                                      {"{\"a\":\"\\udc00\"}", "no valid JSON"},
                                                      {"{}}", "no valid JSON"},
                                                      {R"({"a":1,"a":2})", "a is in the body twice"},
                                                      {"{\"a\":" + std::string(100, '['), "deeper than the limit of 64"}};
  for (const auto& [text, sentence] : kBad) {
    const ApiError error = error_of([&text = text] { parsed(text); }, text);
    EXPECT_EQ(error.status, 400) << text;
    EXPECT_NE(error.message.find(sentence), std::string::npos) << text << ": " << error.message;
  }
  EXPECT_EQ(error_of([] { parsed(R"({"m":[{"c":1,"c":2}]})"); }, "doubled").parameter, "m[0].c");
  expect_refused([] { parsed(R"({"a":{"b":[1,1e400]}})"); }, "a.b[1]", "a number beyond a double");
  std::string many = R"({"a":1)";
  for (int i = 0; i < 10000; ++i) many += ",\"" + std::to_string(i) + "\":1";
  EXPECT_NE(error_of([&] { parsed(many + "}"); }, "many names").message.find("more than 8192 names"), std::string::npos);
}

TEST(ServerJsonFields, Kinds) {
  const json::object body =
      parsed(R"({"t":"x","i":-5,"whole":5.0,"n":0.25,"big":18446744073709551615,"b":true,"l":[1,2],"o":{"x":1},"z":null})");
  JsonFields fields(body);
  EXPECT_EQ(fields.text("t"), "x");
  EXPECT_EQ(fields.required_text("t"), "x");
  EXPECT_EQ(fields.integer("i", -5, 5), -5);
  EXPECT_EQ(fields.integer("whole", 0, 5), 5);
  EXPECT_EQ(fields.number("n", 0, 1), 0.25);
  EXPECT_EQ(fields.number("i", -5, 5), -5);
  EXPECT_GT(fields.number("big", 0, 1e20), 1.8e19);
  EXPECT_EQ(fields.boolean("b"), true);
  EXPECT_EQ(fields.array("l", 2)->size(), 2U);
  EXPECT_EQ(fields.object("o")->size(), 1U);
  EXPECT_EQ(fields.choice("t", {"w", "x"}), "x");
  for (const char* absent : {"z", "none"}) {
    EXPECT_FALSE(fields.text(absent));
    EXPECT_FALSE(fields.integer(absent, 0, 1));
    EXPECT_FALSE(fields.number(absent, 0, 1));
    EXPECT_FALSE(fields.boolean(absent));
    EXPECT_FALSE(fields.choice(absent, {"x"}));
    EXPECT_EQ(fields.array(absent, 1), nullptr);
    EXPECT_EQ(fields.object(absent), nullptr);
    EXPECT_FALSE(fields.has(absent));
  }
  fields.finish();
}

TEST(ServerJsonFields, EachRefusalNamesItsField) {
  const json::object body =
      parsed(R"({"t":"x","i":6,"half":0.5,"n":2,"big":18446744073709551615,"b":true,"l":[1,2],"o":{"x":1}})");
  const std::pair<const char*, std::function<void(JsonFields&)>> kBad[] = {
      {"i", [](JsonFields& f) { f.text("i"); }},
      {"i", [](JsonFields& f) { f.integer("i", 0, 5); }},
      {"half", [](JsonFields& f) { f.integer("half", 0, 5); }},
      {"big", [](JsonFields& f) { f.integer("big", 0, 5); }},
      {"t", [](JsonFields& f) { f.integer("t", 0, 5); }},
      {"b", [](JsonFields& f) { f.integer("b", 0, 5); }},
      {"n", [](JsonFields& f) { f.number("n", 0, 1); }},
      {"b", [](JsonFields& f) { f.number("b", 0, 1); }},
      {"i", [](JsonFields& f) { f.boolean("i"); }},
      {"t", [](JsonFields& f) { f.choice("t", {"y"}); }},
      {"i", [](JsonFields& f) { f.choice("i", {"y"}); }},
      {"l", [](JsonFields& f) { f.array("l", 1); }},
      {"o", [](JsonFields& f) { f.array("o", 1); }},
      {"l", [](JsonFields& f) { f.object("l"); }},
      {"none", [](JsonFields& f) { f.required_text("none"); }},
      {"l", [](JsonFields& f) { f.refuse({"l"}, "why"); }},
      {"t", [](JsonFields& f) { f.finish(); }}};
  for (const auto& [name, read] : kBad) {
    for (const std::string path : {"", "messages[2]"}) {
      JsonFields fields(body, path);
      expect_refused([&read = read, &fields] { read(fields); }, path.empty() ? name : path + "." + name, name);
    }
  }
}

TEST(ServerJsonFields, WhatHasNoEffect) {
  const json::object body = parsed(R"({"user":7,"tools":[],"audio":null,"unknown":null,"x":1})");
  JsonFields fields(body);
  fields.accept({"user"});
  fields.refuse({"tools", "audio"}, "why");
  expect_refused([&] { fields.finish(); }, "x", "what nobody read");
}

// What a client sent is shown short, in whole characters and without control bytes.
TEST(ServerJsonFields, Shown) {
  EXPECT_EQ(shown_json(json::object{{"a", 1}}), "an object");
  EXPECT_EQ(shown_json(json::array{1}), "a list");
  EXPECT_EQ(shown_json(0.5), "0.5");
  EXPECT_EQ(shown_text("a\nb"), R"("a\x0Ab")");
  EXPECT_EQ(shown_text(std::string(60, 'a')), "\"" + std::string(60, 'a') + "\"");
  EXPECT_EQ(shown_text(std::string(1000000, 'a')), "\"" + std::string(60, 'a') + "\"...");
  EXPECT_EQ(shown_name(std::string(59, 'a') + "éa"), std::string(59, 'a') + "...");
  const json::object long_name{{std::string(100000, 'k'), 1}};
  JsonFields fields(long_name);
  EXPECT_LT(error_of([&] { fields.finish(); }, "a long name").message.size(), 200U);
}

TEST(ServerJsonFields, Shortest) {
  EXPECT_EQ(shortest(0.1F), 0.1);
  EXPECT_EQ(json_quoted("a\"\n\x80"), "\"a\\\"\\n\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace gainz::host
