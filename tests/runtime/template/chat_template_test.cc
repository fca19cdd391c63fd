// The interface itself: what a caller gives, what comes back, what is refused. Dialect cases are in the vectors.
#include "template/chat_template.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "render_helpers.h"

namespace gainz {
namespace {

TEST(ChatTemplate, SyntaxErrorsNameTheLine) {
  for (const char* source :
       {"a\nb {{ 1 + }}", "a\n{% if x %}", "\n{% endif %}", "\n{{ 'x }}", "\n{% foo %}", "\n{{ (1] }}", "\n{# x",
        "\n{% for in x %}{% endfor %}", "x\n{% break %}", "\n{% raw %}x", "\n{{ 99999999999999999999 }}"}) {
    const auto result = ChatTemplate::parse(source);
    ASSERT_FALSE(result.ok()) << source;
    EXPECT_EQ(result.status().code(), Code::invalid) << source;
    EXPECT_NE(result.status().message().find("line 2"), std::string::npos) << source << ": " << result.status().message();
  }
}

TEST(ChatTemplate, RuntimeErrorsNameTheLine) {
  EXPECT_EQ(rendered("\n\n{{ 1 + 'x' }}"), "[chat template, line 3: unsupported operand types for +: 'int' and 'str']");
  EXPECT_EQ(rendered("\n{{ x.y }}"), "[chat template, line 2: 'x' is undefined]");
  EXPECT_EQ(rendered("{{ messages[0].foo.bar }}", {R"([{"a": 1}])"}),
            "[chat template, line 1: 'dict object' has no attribute 'foo']");
}

TEST(ChatTemplate, RaiseExceptionGivesItsSentenceAlone) {
  const auto result = render("{{ raise_exception('Roles must alternate!') }}");
  EXPECT_EQ(result.status().code(), Code::invalid);
  EXPECT_EQ(result.status().message(), "Roles must alternate!");
}

TEST(ChatTemplate, BadJsonIsRefused) {
  for (const char* messages : {"",
                               "{}",
                               "[",
                               "[1,]",
                               "[01]",
                               "[1.]",
                               "[+1]",
                               "[tru]",
                               "[\"\x01\"]",
                               "[\"\\x\"]",
                               "[\"\\ud800\"]",
                               "[\"\xff\"]",
                               "[1] 2",
                               "[{\"a\": 1, \"a\": 2}]",
                               "[{\"a\" 1}]",
                               "[{a: 1}]",
                               "[NaN]",
                               "[1e999]",
                               "[18446744073709551616]",
                               "\"x\"",
                               "[\"x"}) {
    RenderOptions options;
    options.messages = messages;
    const auto result = render("x", options);
    ASSERT_FALSE(result.ok()) << messages;
    EXPECT_EQ(result.status().code(), Code::invalid) << messages;
  }
}

TEST(ChatTemplate, JsonKeepsOrderAndKinds) {
  RenderOptions options;
  options.messages = R"([{"z": 1, "a": 1.0, "m": -0, "e": 1e2, "u": "\u00e9\ud83d\ude00\/", "n": null, "t": [true, false]}])";
  EXPECT_EQ(rendered("{{ messages[0]|tojson }}", options),
            "{\"z\": 1, \"a\": 1.0, \"m\": 0, \"e\": 100.0, \"u\": \"\xC3\xA9\xF0\x9F\x98\x80/\", \"n\": null, \"t\": [true, "
            "false]}");
}

TEST(ChatTemplate, InputsAsTransformersPassesThem) {
  EXPECT_EQ(
      rendered(
          "{{ tools is defined }} {{ tools is none }} {{ documents is none }} {{ add_generation_prompt }} {{ bos_token }}"),
      "True True True False <s>");
  RenderOptions options;
  options.tools = "[]";
  options.vars = R"({"documents": [1], "enable_thinking": false})";
  EXPECT_EQ(rendered("{{ tools }} {{ documents }} {{ enable_thinking is false }}", options), "[] [1] True");
  options.vars = R"({"messages": []})";
  EXPECT_FALSE(render("x", options).ok());
  options.vars = "[]";
  EXPECT_FALSE(render("x", options).ok());
}

TEST(ChatTemplate, Time) {
  EXPECT_EQ(rendered("{{ strftime_now('%d %b %Y') }}"), "02 Jan 2026");
  EXPECT_EQ(rendered("{{ strftime_now('%Y-%m-%d %H:%M:%S %A %j %%') }}"), "2026-01-02 03:04:05 Friday 002 %");
}

TEST(ChatTemplate, InvalidUtf8IsRefused) { EXPECT_FALSE(ChatTemplate::parse("x\xff").ok()); }

TEST(ChatTemplate, ManyThreadsRenderOneTemplate) {
  const auto parsed = ChatTemplate::parse(
      "{% macro m(x, y='lit') %}{{ x ~ y }}{% endmacro %}{% for m_ in messages %}{{ m(m_.content|upper) ~ ['a', 'b'] }}{% "
      "endfor %}");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      const std::string messages = "[{\"content\": \"x" + std::to_string(k) + "\"}]";
      for (int n = 0; n < 200; ++n) {
        RenderInput input;
        input.messages_json = messages;
        const auto result = parsed.value()->render(input);
        good[k] += result.ok() && result.value().text == "X" + std::to_string(k) + "lit['a', 'b']" ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 200));
}

}  // namespace
}  // namespace gainz
