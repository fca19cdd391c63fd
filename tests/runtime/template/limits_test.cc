// Every limit of template/limits.h is crossed here, or in hostile_test.cc where nesting crosses it.
#include "template/limits.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "render_helpers.h"

namespace gainz {
namespace {

Code code_of(const std::string& source, const RenderOptions& options = {}) { return render(source, options).status().code(); }

TEST(TemplateLimits, ListHasEachOnce) {
  std::set<std::string> names;
  for (const jinja::Limit& limit : jinja::limits()) {
    EXPECT_GT(limit.value, 0u) << limit.name;
    EXPECT_TRUE(names.insert(limit.name).second) << limit.name;
  }
  EXPECT_EQ(names.size(), 12u);
}

TEST(TemplateLimits, TemplateBytes) {
  EXPECT_EQ(code_of(std::string(jinja::kMaxTemplateBytes, 'x')), Code::ok);
  EXPECT_EQ(code_of(std::string(jinja::kMaxTemplateBytes + 1, 'x')), Code::limit_exceeded);
}

TEST(TemplateLimits, JsonBytes) {
  RenderOptions options;
  options.messages = "[\"" + std::string(jinja::kMaxJsonBytes, 'x') + "\"]";
  EXPECT_EQ(code_of("x", options), Code::limit_exceeded);
}

TEST(TemplateLimits, Steps) {
  EXPECT_EQ(code_of("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}"), Code::limit_exceeded);
  EXPECT_EQ(code_of("{% for a in range(100000) %}{% for b in [] %}{% endfor %}{% endfor %}"), Code::ok);
}

TEST(TemplateLimits, WorkOnBytesIsSteps) {
  RenderOptions options;
  options.messages = "[\"" + std::string(1 << 20, 'x') + "\"]";
  EXPECT_EQ(code_of("{% for a in range(100000) %}{% if messages[0] == messages[0] ~ 'y' %}{% endif %}{% endfor %}", options),
            Code::limit_exceeded);
  EXPECT_EQ(code_of("{% for a in range(100000) %}{% if 'zz' in messages[0] %}{% endif %}{% endfor %}", options),
            Code::limit_exceeded);
}

TEST(TemplateLimits, RangeItems) {
  EXPECT_EQ(code_of("{{ range(100000)|length }}"), Code::ok);
  EXPECT_EQ(code_of("{{ range(100001)|length }}"), Code::limit_exceeded);
  EXPECT_EQ(code_of("{{ range(10**9) }}"), Code::limit_exceeded);
  EXPECT_EQ(code_of("{{ range(-9223372036854775807, 9223372036854775807) }}"), Code::limit_exceeded);
}

TEST(TemplateLimits, OutputBytes) {
  EXPECT_EQ(code_of("{% set x = 'x' * 1000000 %}{% for a in range(100) %}{{ x }}{% endfor %}"), Code::limit_exceeded);
  EXPECT_EQ(code_of("{% set x = 'x' * 1000000 %}{% for a in range(60) %}{{ x }}{% endfor %}"), Code::ok);
}

TEST(TemplateLimits, ValueBytes) {
  for (const char* source : {
           "{{ 'x' * 10**9 }}",
           "{{ 10**9 * 'xy' }}",
           "{{ [1] * 10**9 }}",
           "{{ ('x' * 10**6).replace('x', 'y' * 10**6) }}",
           "{{ ('x' * 10**6)|replace('x', 'y' * 10**6) }}",
           "{{ ('x' * 10**6)|replace('', 'y' * 10**6) }}",
           "{{ 'x'.center(10**12) }}",
           "{{ 'x'|center(10**12) }}",
           "{{ 'x'.ljust(10**18) }}",
           "{{ 'x'.rjust(10**12, '-') }}",
           "{{ 'x'.zfill(10**12) }}",
           "{{ '\\t'.expandtabs(10**12) }}",
           "{{ '%1000000000000d' % 1 }}",
           "{{ '%*d' % (10**12, 1) }}",
           "{{ '{:1000000000000}'.format('x') }}",
           "{{ 'a\nb'|indent(10**12) }}",
           "{{ [[1]]|tojson(indent=10**12) }}",
           "{{ ('y' * 10**6).join(['x'] * 10**6) }}",
           "{{ (['x'] * 10**5)|join('y' * 10**6) }}",
           "{{ [1]|batch(10**12, 'x')|list }}",
           "{{ [1]|slice(10**12, 'x')|list }}",
           "{{ ('ab ' * 10**6)|wordwrap(1, wrapstring='x' * 10**6) }}",
           "{% set ns = namespace(x='x') %}{% for a in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
           "{% set ns = namespace(x=[]) %}{% for a in range(100) %}{% set ns.x = ns.x + ns.x + [1] %}{% endfor %}",
           "{% set ns = namespace(x='x') %}{% for a in range(100) %}{% set ns.x = [ns.x, ns.x]|string %}{% endfor %}",
           "{% set ns = namespace(x=[1]) %}{% for a in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
           "{% set ns = namespace(x=[1]) %}{% for a in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson }}",
           "{% set ns = namespace(x=[1], y=[1]) %}{% for a in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, "
           "ns.y] "
           "%}{% endfor %}{{ ns.x == ns.y }}",
           "{% set ns = namespace(x=none) %}{% for a in range(100000) %}{% for b in range(100) %}{% set ns.x = "
           "namespace(p=ns.x) "
           "%}{% endfor %}{% endfor %}",
       }) {
    EXPECT_EQ(code_of(source), Code::limit_exceeded) << source << " " << render(source).status().message();
  }
}

TEST(TemplateLimits, MemoryComesBack) {  // far more is made than may live at one time
  EXPECT_EQ(code_of("{% for a in range(1000) %}{% set x = 'x' * 1000000 %}{% endfor %}"), Code::ok);
}

TEST(TemplateLimits, ValueDepth) {
  EXPECT_EQ(code_of("{% set ns = namespace(x=1) %}{% for a in range(99) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}"),
            Code::ok);
  EXPECT_EQ(code_of("{% set ns = namespace(x=1) %}{% for a in range(101) %}{% set ns.x = [ns.x] %}{% endfor %}"),
            Code::limit_exceeded);
  EXPECT_EQ(code_of("{% set ns = namespace(x=1) %}{% for a in range(101) %}{% set ns.x = {'a': ns.x} %}{% endfor %}"),
            Code::limit_exceeded);
  RenderOptions options;
  options.messages = std::string(100, '[') + std::string(100, ']');
  EXPECT_EQ(code_of("{{ messages }}", options), Code::ok);
  options.messages = std::string(102, '[') + std::string(102, ']');
  EXPECT_EQ(code_of("{{ messages }}", options), Code::limit_exceeded);
  options.messages = std::string(1000000, '[');
  EXPECT_EQ(code_of("{{ messages }}", options), Code::limit_exceeded);
}

}  // namespace
}  // namespace gainz
