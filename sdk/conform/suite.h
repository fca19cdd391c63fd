// The suite of gainz-conform: its tests by name, and what a test has in its hands. A test runs in a process of its own.
#ifndef GAINZ_SDK_CONFORM_SUITE_H
#define GAINZ_SDK_CONFORM_SUITE_H

#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "conform/harness.h"

namespace gainz::conform {

// Whom the suite judges.
struct Subject {
  std::string path;  // of the plugin
  uint32_t device = 0;
  std::vector<std::pair<std::string, std::string>> options;
  uint64_t seed = 1;
  std::string toys;      // folder of *.toy files; "": none
  uint32_t seconds = 0;  // for each test; 0: its own limit
};

class Failed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends the test with a sentence made as printf does.
[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char* format, ...);
// What the plugin need not do, and does not: neither passed nor failed.
[[noreturn]] __attribute__((format(printf, 1, 2))) void unsupported(const char* format, ...);
#define GAINZ_REQUIRE(condition, ...)    \
  do {                                   \
    if (!(condition)) fail(__VA_ARGS__); \
  } while (false)

class Trial {
 public:
  explicit Trial(const Subject& s) : subject(s), random(s.seed) {}
  // A line for the report.
  __attribute__((format(printf, 2, 3))) void note(const char* format, ...);

  const Subject& subject;
  std::mt19937_64 random;
  TestHost host{2};
  std::vector<std::string> notes;
};

struct Test {
  std::string name;   // "ops.linear.q4_0"
  std::string about;  // one line: what must hold
  std::function<void(Trial&)> run;
  uint32_t seconds = 20;  // beyond: it hangs
};

const std::vector<Test>& all_tests();  // in the order in which they make sense

void add_load_tests(std::vector<Test>& tests);
void add_contract_tests(std::vector<Test>& tests);
void add_op_tests(std::vector<Test>& tests);
void add_program_tests(std::vector<Test>& tests);
void add_kv_tests(std::vector<Test>& tests);
void add_model_tests(std::vector<Test>& tests);

}  // namespace gainz::conform

#endif
