// Nesting, recursion and circles: an answer or an error, never a dead process, on a thread with a stack of 256 KiB.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>

#include "render_helpers.h"
#include "template/limits.h"

namespace gainz {
namespace {

#ifdef GAINZ_TEMPLATE_SANITIZED
constexpr size_t kStackBytes = size_t{1} << 20;  // frames are several times as large under a sanitizer
#else
constexpr size_t kStackBytes = size_t{256} << 10;
#endif

void on_small_stack(std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread;
  const auto start = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string times(const std::string& text, int count) {
  std::string out;
  for (int k = 0; k < count; ++k) out += text;
  return out;
}

void expect_code(const std::string& source, Code code) {
  on_small_stack([&] {
    const Result<RenderedText> result = render(source);
    EXPECT_EQ(result.status().code(), code) << source.substr(0, 80) << ": " << result.status().message();
  });
}

// n levels that open and close around an operand.
std::string nested(const std::string& open, const std::string& middle, const std::string& close, int count) {
  return "{{ " + times(open, count) + middle + times(close, count) + " }}";
}

struct Nesting {
  const char* open;
  const char* middle;
  const char* close;
};
constexpr Nesting kNestings[] = {
    {"(", "1", ")"},
    {"[", "1", "]"},
    {"{'a': ", "1", "}"},
    {"-", "1", ""},
    {"(-", "1", ")"},
    {"not (", "1", ")"},
    {"(1 + ", "1", ")"},
    {"(1 if ", "1", " else 2)"},
    {"x[", "1", "]"},
    {"x|default(", "1", ")"},
    {"(1 in [", "1", "])"},
    {"range(", "1", ")"},
    {"x is defined(", "1", ")"},
    {"dict(a=", "1", ")"},
    {"(1, ", "1", ")"},
    {"(1 and ", "1", ")"},
    {"('a' ~ ", "1", ")"},
    {"(1 < ", "1", ")"},
    {"x[1:", "1", "]"},
    {"f(*[", "1", "])"},
    {"(2 ** (1 * (", "1", ")))"},
    {"(1 or (not (1 < (1 + ('' ~ (", "1", "))))))"},
};

TEST(TemplateHostile, ShallowNestingIsFine) {
  for (const Nesting& nesting : kNestings) {
    on_small_stack([&] {
      const auto parsed = ChatTemplate::parse(nested(nesting.open, nesting.middle, nesting.close, 5));
      EXPECT_TRUE(parsed.ok()) << nesting.open << ": " << parsed.status().message();
    });
  }
}

TEST(TemplateHostile, DeepNestingIsAnError) {
  for (const Nesting& nesting : kNestings) {
    for (const int count : {15, 20, 24, 30, 45, 60, 80, 95, 120, 100000}) {
      on_small_stack([&] {
        const Result<RenderedText> result = render(nested(nesting.open, nesting.middle, nesting.close, count));
        if (count > 300) {
          EXPECT_EQ(result.status().code(), Code::limit_exceeded) << nesting.open;
        }
      });
    }
  }
  expect_code(times("{% if 1 %}", 100000), Code::limit_exceeded);
  expect_code(times("{% for a in [1] %}", 50) + times("{% endfor %}", 50), Code::ok);
  for (const char* tag : {"if 1", "for a in [1]", "set a", "macro m()", "call m()", "filter upper", "with", "generation"}) {
    const std::string name = std::string(tag).substr(0, std::string(tag).find(' '));
    for (const int count : {30, 60, 95, 50000}) {
      on_small_stack([&] {
        const std::string open = std::string("{% ") + tag + " %}";
        const auto result = render(times(open, count) + "x" + times("{% end" + name + " %}", count));
        if (count > 300) {
          EXPECT_EQ(result.status().code(), Code::limit_exceeded) << tag;
        }
      });
    }
  }
  expect_code("{% for " + times("(", 100000) + "a" + times(")", 100000) + " in [1] %}{% endfor %}", Code::limit_exceeded);
}

TEST(TemplateHostile, LongChainsAreFine) {
  constexpr int kLong = 20000;
  expect_code("{{ 'x'" + times("|trim", kLong) + " }}", Code::ok);
  expect_code("{{ 1" + times(" + 1", kLong) + " }}", Code::ok);
  expect_code("{{ ''" + times(" ~ 1", kLong) + " }}", Code::ok);
  expect_code("{{ 1" + times(" if 0 else 1", kLong) + " }}", Code::ok);
  expect_code("{{ 1" + times(" and 1", kLong) + times(" or 1", kLong) + " }}", Code::ok);
  expect_code("{{ 1" + times(" == 1", kLong) + " }}", Code::ok);
  expect_code("{{ " + times("not ", kLong) + "1 }}", Code::ok);
  expect_code("{{ x" + times(".y", kLong) + " }}", Code::invalid);
  expect_code("{{ x" + times("[0]", kLong) + " }}", Code::invalid);
  expect_code("{{ x" + times("()", kLong) + " }}", Code::invalid);
  expect_code("{{ 1" + times(" is defined", kLong) + " }}", Code::invalid);
  expect_code("{{ 1" + times(" if 0", kLong) + " }}", Code::limit_exceeded);
  expect_code("{% if 0 %}" + times("{% elif 0 %}", kLong) + "{% endif %}", Code::ok);
  expect_code("{% set a = {" + times("'k': 1, ", kLong) + "} %}", Code::ok);
  expect_code("{{ 'x'" + times(" 'y'", kLong) + " }}", Code::ok);
}

TEST(TemplateHostile, RecursionIsCutOff) {
  expect_code("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", Code::limit_exceeded);
  expect_code(
      "{% macro m(x) %}{% for a in [1] %}{% if 1 %}{{ (1 + (m([x])|length)) }}{% endif %}{% endfor %}{% endmacro %}{{ m(1) }}",
      Code::limit_exceeded);
  expect_code("{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}", Code::limit_exceeded);
  expect_code("{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}", Code::limit_exceeded);
  expect_code("{% macro m(x=m()) %}{% endmacro %}{{ m() }}", Code::limit_exceeded);
  expect_code("{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}", Code::limit_exceeded);
  expect_code("{% macro m(n) %}{% if n > 0 %}{{ n }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(20) }}", Code::ok);
}

TEST(TemplateHostile, CirclesEnd) {
  expect_code("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}", Code::limit_exceeded);
  expect_code("{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns.x }}", Code::limit_exceeded);
  expect_code("{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns.x|tojson }}", Code::invalid);
  expect_code("{% set a = namespace() %}{% set b = namespace(x=a) %}{% set a.x = b %}{{ a == b }}{{ a.x.x.x.x is defined }}",
              Code::ok);
  expect_code("{% set ns = namespace(p=none) %}{% for i in range(100000) %}{% set ns.p = namespace(p=ns.p) %}{% endfor %}",
              Code::ok);
  expect_code("{% for x in [1, 2] %}{{ loop.changed(loop) }}{% endfor %}", Code::ok);
  expect_code("{% set ns = namespace() %}{% for x in [1, 2] %}{% set ns.l = loop %}{% endfor %}{{ ns.l.index }}", Code::ok);
  expect_code("{% macro m() %}{% endmacro %}{% set ns = namespace(m=m) %}{{ ns }}", Code::ok);
  expect_code("{% set j = joiner(joiner) %}{{ j() }}{{ j() }}", Code::ok);
  expect_code("{% set ns = namespace(f='x'.upper) %}{% for i in range(1000) %}{% set ns.f = [ns.f].index %}{% endfor %}",
              Code::limit_exceeded);
}

TEST(TemplateHostile, EveryPrefixOfATemplateParsesOrFails) {
  const std::string source =
      "{%- macro m(a, b=1) -%}{{ a|join(', ') ~ b[1:2] }}{%- endmacro -%}{# c #}{% for x, y in z if x is not none recursive %}"
      "{{ loop.index }}{% else %}{% raw %}{{ }}{% endraw %}{% endfor %}{% set ns.x = {'a': (1, 2.5e3), \"b\": '\\u00e9'} %}";
  for (size_t n = 0; n <= source.size(); ++n) (void)render(source.substr(0, n));
  for (size_t n = 0; n < source.size(); ++n) (void)render(source.substr(n));
}

}  // namespace
}  // namespace gainz
