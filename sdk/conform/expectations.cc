#include "conform/expectations.h"

#include <fstream>
#include <stdexcept>

namespace gainz::conform {
namespace {

// Takes a text in double quotes without escapes off the front; throws.
std::string take_quoted(std::string_view& line) {
  const size_t end = line.starts_with('"') ? line.find('"', 1) : std::string_view::npos;
  if (end == std::string_view::npos) throw std::runtime_error("a text in double quotes is missing");
  std::string text(line.substr(1, end - 1));
  line.remove_prefix(end + 1);
  return text;
}

void skip_blanks(std::string_view& line) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t' || line.front() == '\r')) line.remove_prefix(1);
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t at = star; at <= name.size(); ++at)
    if (matches(rest, name.substr(at))) return true;
  return false;
}

std::vector<Expectation> read_expectations(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<Expectation> out;
  std::string section, text;
  for (size_t number = 1; std::getline(file, text); ++number) {
    std::string_view line = text;
    skip_blanks(line);
    if (line.empty() || line.front() == '#') continue;
    try {
      if (line.front() == '[') {
        section = line.substr(0, line.find(']') + 1);
        if (section != "[unsupported]" && section != "[expected_failure]")
          throw std::runtime_error("the sections are [unsupported] and [expected_failure]");
        continue;
      }
      if (section.empty()) throw std::runtime_error("a line before the first section");
      Expectation one;
      one.is_for_ever = section == "[unsupported]";
      one.pattern = take_quoted(line);
      skip_blanks(line);
      if (!line.starts_with('=')) throw std::runtime_error("= is missing");
      line.remove_prefix(1);
      skip_blanks(line);
      one.reason = take_quoted(line);
      if (one.reason.empty()) throw std::runtime_error("a reason is needed");
      out.push_back(std::move(one));
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + e.what());
    }
  }
  return out;
}

const Expectation* find_expectation(const std::vector<Expectation>& all, std::string_view test) {
  for (const Expectation& one : all)
    if (matches(one.pattern, test)) return &one;
  return nullptr;
}

}  // namespace gainz::conform
