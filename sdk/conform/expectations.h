// What a plugin's author says beforehand of tests that do not pass: PLUGIN.conform.toml beside the library, or --expect FILE.
//
//   [unsupported]                       for ever: the plugin does not do this
//   "kv.types" = "the device has no 8-bit arithmetic"
//   [expected_failure]                  for now
//   "ops.moe_linear.*" = "sums in another order, to be fixed"
//
// The small part of TOML that manifests are made of: sections, lines of "name" = "text", comments.
#ifndef GAINZ_SDK_CONFORM_EXPECTATIONS_H
#define GAINZ_SDK_CONFORM_EXPECTATIONS_H

#include <string>
#include <string_view>
#include <vector>

namespace gainz::conform {

struct Expectation {
  std::string pattern;  // of test names; * stands for anything
  bool is_for_ever = false;
  std::string reason;
};

bool matches(std::string_view pattern, std::string_view name);
// Throws std::runtime_error naming file and line.
std::vector<Expectation> read_expectations(const std::string& path);
const Expectation* find_expectation(const std::vector<Expectation>& all, std::string_view test);

}  // namespace gainz::conform

#endif
