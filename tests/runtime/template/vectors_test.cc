// What Jinja2 itself makes of templates (tests/data/template/make_vectors.py wrote the files), and the cases of SmolLM2's own
// template.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <vector>

#include "render_helpers.h"

namespace gainz {
namespace {

namespace json = boost::json;

std::string data_path(const std::string& name) { return std::string(GAINZ_TEST_DATA "/template/") + name; }

std::string read_file(const std::string& name) {
  std::ifstream file(data_path(name));
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

std::vector<json::object> read_lines(const std::string& name) {
  std::ifstream file(data_path(name));
  std::vector<json::object> cases;
  for (std::string line; std::getline(file, line);) cases.push_back(json::parse(line).as_object());
  return cases;
}

std::string member(const json::object& object, const char* name) {
  const json::value* found = object.if_contains(name);
  return found ? json::serialize(*found) : std::string();
}

RenderOptions options_of(const json::object& vector) {
  RenderOptions options;
  if (vector.contains("messages")) options.messages = member(vector, "messages");
  options.tools = member(vector, "tools");
  options.vars = vector.contains("style") ? member(vector, "vars") : read_file("vars.json");
  if (const json::value* add = vector.if_contains("add_generation_prompt")) options.add_generation_prompt = add->as_bool();
  return options;
}

std::string source_of(const json::object& vector) {
  if (const json::value* style = vector.if_contains("style")) return read_file("styles/" + std::string(style->as_string()));
  return std::string(vector.at("template").as_string());
}

void check(const std::string& source, const json::object& vector) {
  const Result<RenderedText> result = render(source, options_of(vector));
  const std::string shown = json::serialize(vector);
  if (vector.contains("error") || vector.contains("expected_error")) {
    EXPECT_FALSE(result.ok()) << shown << "\nrendered " << (result.ok() ? result.value().text : "");
    if (const json::value* sentence = vector.if_contains("sentence"); sentence && !result.ok()) {
      EXPECT_EQ(result.status().message(), sentence->as_string()) << shown;
    }
    return;
  }
  ASSERT_TRUE(result.ok()) << shown << "\n" << result.status().message();
  EXPECT_EQ(result.value().text, vector.at("expected").as_string()) << shown;
}

TEST(TemplateVectors, SmolLm2) {
  const std::vector<json::object> cases = read_lines("smollm2_cases.jsonl");
  EXPECT_EQ(cases.size(), 17u);
  for (json::object vector : cases) {
    vector["style"] = "../smollm2.jinja";
    check(source_of(vector), vector);
  }
}

TEST(TemplateVectors, Expressions) {
  const std::vector<json::object> cases = read_lines("expressions.jsonl");
  EXPECT_GT(cases.size(), 500u);
  for (const json::object& vector : cases) check(source_of(vector), vector);
}

TEST(TemplateVectors, Statements) {
  const std::vector<json::object> cases = read_lines("statements.jsonl");
  EXPECT_GT(cases.size(), 100u);
  for (const json::object& vector : cases) check(source_of(vector), vector);
}

TEST(TemplateVectors, Styles) {
  const std::vector<json::object> cases = read_lines("styles.jsonl");
  EXPECT_GT(cases.size(), 100u);
  for (const json::object& vector : cases) check(source_of(vector), vector);
}

}  // namespace
}  // namespace gainz
