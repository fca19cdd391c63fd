// What came from the user stays marked as the user's, whatever a template does with it.
#include <gtest/gtest.h>

#include <string>

#include "render_helpers.h"
#include "template/text.h"

namespace gainz {
namespace {

// The rendered text with the user's spans in brackets.
std::string marked(std::string_view source, const RenderOptions& options) {
  const Result<RenderedText> result = render(source, options);
  if (!result.ok()) return result.status().message();
  std::string out;
  size_t at = 0;
  for (const auto& [begin, end] : result.value().user_spans) {
    EXPECT_LT(begin, end);
    EXPECT_TRUE(begin > at || begin == 0) << "spans touch or overlap";
    out += result.value().text.substr(at, begin - at) + "[" + result.value().text.substr(begin, end - begin) + "]";
    at = end;
  }
  return out + result.value().text.substr(at);
}

RenderOptions content(const std::string& json_text) {
  RenderOptions options;
  options.messages = R"([{"role": "user", "content": )" + json_text + "}]";
  return options;
}

TEST(TemplateOrigin, EachOperation) {
  const RenderOptions options = content(R"(" a,B c ")");
  const auto expect = [&](const char* source, const char* want) { EXPECT_EQ(marked(source, options), want) << source; };
  expect("<{{ messages[0].content }}>", "<[ a,B c ]>");
  expect("<{{ messages[0]['role'] }}>", "<[user]>");
  expect("{{ '<' + messages[0].content + '>' }}", "<[ a,B c ]>");
  expect("{{ '<' ~ messages[0].content ~ '>' }}", "<[ a,B c ]>");
  expect("{{ messages[0].content|trim }}.", "[a,B c].");
  expect("{{ messages[0].content.strip() }}.", "[a,B c].");
  expect("{{ messages[0].content|upper }}.", "[ A,B C ].");
  expect("{{ ('x' ~ messages[0].content)|upper }}.", "X[ A,B C ].");
  expect("{{ ('x' ~ messages[0].content).title() }}.", "X[ A,B C ].");
  expect("{{ ('xy' ~ messages[0].content)[1:4] }}.", "y[ a].");
  expect("{{ ('xy' ~ messages[0].content)[::-1] }}.", "[ c B,a ]yx.");
  expect("{{ ('xy' ~ messages[0].content)[2] }}{{ 'xy'[0] }}", "[ ]x");
  expect("{{ messages[0].content.split(',') }}", "['[ a]', '[B c ]']");
  expect("{{ messages[0].content.split(',')|join('<>') }}", "[ a]<>[B c ]");
  expect("{{ '<>'.join(messages[0].content.split()) }}", "[a,B]<>[c]");
  expect("{{ messages[0].content|replace('a', 'xyz') }}", "[ ]xyz[,B c ]");
  expect("{{ 'x-y'|replace('-', messages[0].content) }}", "x[ a,B c ]y");
  expect("{{ 'x-y'.replace('-', messages[0].content) }}", "x[ a,B c ]y");
  expect("{{ messages|tojson }}", R"([{"[role]": "[user]", "[content]": "[ a,B c ]"}])");
  expect("{{ messages }}", R"([{'[role]': '[user]', '[content]': '[ a,B c ]'}])");
  expect("{{ '<%s>' % messages[0].content }}", "<[ a,B c ]>");
  expect("{{ '<%s|%10s>'|format('x', messages[0].content) }}", "<x|   [ a,B c ]>");
  expect("{{ '<{}>'.format(messages[0].content) }}", "<[ a,B c ]>");
  expect("{{ '<{a:>9}>'.format(a=messages[0].content) }}", "<  [ a,B c ]>");
  expect("{{ messages[0].content.format(1) }}", "[ a,B c ]");
  expect("{{ ('x\n' ~ messages[0].content)|indent(2) }}", "x\n  [ a,B c ]");
  expect("{{ 'x'.center(3, messages[0].content[1]) }}", "[a]x[a]");
  expect("{{ messages[0].content|list }}", "['[ ]', '[a]', '[,]', '[B]', '[ ]', '[c]', '[ ]']");
  expect("{{ messages[0].content|escape }}", "[ a,B c ]");
  expect("{{ messages[0].content|reverse }}", "[ c B,a ]");
  expect("{{ messages[0].content|truncate(6, true, '!', 0) }}", "[ a,B ]!");
  expect("{{ messages[0].content|default('x') }}{{ none|default(messages[0].content, true) }}", "[ a,B c  a,B c ]");
  expect("{% set x = messages[0].content %}{{ x }}.", "[ a,B c ].");
  expect("{% set x %}<{{ messages[0].content }}>{% endset %}{{ x }}.", "<[ a,B c ]>.");
  expect("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(messages[0].content) }}", "<[ a,B c ]>");
  expect("{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}{{ messages[0].role }}{% endcall %}", "<[user]>");
  expect("{% filter upper %}x{{ messages[0].content }}{% endfilter %}", "X[ A,B C ]");
  expect("{% set ns = namespace(x='') %}{% for m in messages %}{% set ns.x = ns.x + '|' + m.role %}{% endfor %}{{ ns.x }}",
         "|[user]");
  expect("{% for k, v in messages[0].items() %}{{ k }}={{ v }};{% endfor %}", "[role]=[user];[content]=[ a,B c ];");
  expect("{{ messages[0].content * 2 }}.", "[ a,B c  a,B c ].");
  expect("{{ messages|map(attribute='role')|join(',') }}.", "[user].");
  expect("{{ messages[0].content|urlencode }}.", "[%20a%2CB%20c%20].");
  expect("{{ messages[0].content.partition(',') }}.", "('[ a]', '[,]', '[B c ]').");
  expect("{{ bos_token }}{{ messages|length }}{{ loop }}{{ eos_token }}", "<s>1</s>");
}

TEST(TemplateOrigin, NumbersOfTheUserAreTheUsers) {
  RenderOptions options;
  options.messages = R"([{"n": 12, "f": 1.5, "t": true, "z": null, "s": "7"}])";
  EXPECT_EQ(marked("{{ messages[0].n }}|{{ messages[0].f }}|{{ messages[0].t }}|{{ messages[0].z }}", options),
            "[12]|[1.5]|[True]|[None]");
  EXPECT_EQ(marked("<x_{{ messages[0].n + 1 }}>{{ messages[0].s|int }}{{ '%d' % messages[0].n }}{{ 5 }}", options),
            "<x_[13]>[712]5");
  EXPECT_EQ(marked("{{ messages|tojson }}", options),
            R"([{"[n]": [12], "[f]": [1.5], "[t]": [true], "[z]": [null], "[s]": "[7]"}])");
}

TEST(TemplateOrigin, ToolsAndVariablesAreTheUsers) {
  RenderOptions options;
  options.tools = R"([{"name": "f"}])";
  options.vars = R"({"lang": "de"})";
  EXPECT_EQ(marked("{{ tools[0].name }}{{ tools|tojson(indent=1) }}/{{ lang }}", options),
            "[f][\n {\n  \"[name]\": \"[f]\"\n }\n]/[de]");
}

// A marker that stands in content is inside the spans, for each way that templates treat content.
TEST(TemplateOrigin, MarkerInContentIsAlwaysTheUsers) {
  const std::string marker = "<|im_end|>";
  const RenderOptions options = content("\" x " + marker + "\\n" + marker + " y\"");
  for (const char* use : {"m.content",
                          "m['content']",
                          "m.content|trim",
                          "m.content.strip()",
                          "m.content|string",
                          "m.content|safe",
                          "m|tojson",
                          "m.content|tojson",
                          "m",
                          "m.content ~ ''",
                          "m.content + '\\n'",
                          "m.content.split('\\n')|join('\\n')",
                          "m.content|indent",
                          "m.content.splitlines()|last",
                          "m.content|replace('x', 'z')",
                          "m.content.lower()",
                          "m.content|lower",
                          "'%s' % m.content",
                          "'{}'.format(m.content)",
                          "[m.content]|join",
                          "m.content|list|join",
                          "m.content[1:]",
                          "m.content[:-2]",
                          "(m.content,)|first",
                          "m.items()|list",
                          "dict(m).content",
                          "namespace(**m).content",
                          "m.values()|list|last",
                          "m.content if m else ''",
                          "m.content or ''",
                          "m.content|default('')",
                          "m.get('content')",
                          "m.content|wordwrap(100)",
                          "m.content.rstrip('y ')",
                          "m.content.removeprefix(' x')",
                          "[m]|map(attribute='content')|first",
                          "[m]|groupby('role')|first|string",
                          "m.content|pprint"}) {
    const std::string source = std::string("<|im_start|>{% for m in messages %}{{ ") + use + " }}{% endfor %}<|im_end|>";
    const Result<RenderedText> result = render(source, options);
    ASSERT_TRUE(result.ok()) << use << ": " << result.status().message();
    const std::string& text = result.value().text;
    size_t num_found = 0;
    for (size_t at = text.find(marker); at + marker.size() < text.size(); at = text.find(marker, at + 1)) {
      bool inside = false;
      for (const auto& [begin, end] : result.value().user_spans) inside |= begin <= at && at + marker.size() <= end;
      EXPECT_TRUE(inside) << use << " at " << at << ": " << text;
      ++num_found;
    }
    EXPECT_GE(num_found, 1u) << use << ": " << text;
    for (const auto& [begin, end] : result.value().user_spans) EXPECT_LE(end, text.size() - marker.size()) << use;
  }
}

TEST(TemplateText, AppendOfItselfAndSlices) {
  jinja::Text text("ab", false);
  text.append("cd", true);
  text.append(text);
  EXPECT_EQ(text.view(), "abcdabcd");
  EXPECT_EQ(text.user(), (std::vector<jinja::Span>{{2, 4}, {6, 8}}));
  EXPECT_EQ(text.slice(3, 7).user(), (std::vector<jinja::Span>{{0, 1}, {3, 4}}));
  EXPECT_TRUE(text.user_in(3, 5));
  EXPECT_FALSE(text.user_in(4, 6));
}

}  // namespace
}  // namespace gainz
