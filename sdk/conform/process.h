// A test in a process of its own: the plugin may crash, hang, print or run out of memory, and the kit goes on.
#ifndef GAINZ_SDK_CONFORM_PROCESS_H
#define GAINZ_SDK_CONFORM_PROCESS_H

#include "conform/suite.h"

namespace gainz::conform {

enum class Verdict { pass, fail, unsupported };

struct Result {
  const Test* test = nullptr;
  Verdict verdict = Verdict::fail;
  std::string reason;  // of a failure, or what is not supported
  std::vector<std::string> notes;
  double seconds = 0;
};

// Forks, runs, and reads the verdict. A signal, an exit, a time beyond the test's limit and any output are failures.
Result run_apart(const Test& test, const Subject& subject);

}  // namespace gainz::conform

#endif
