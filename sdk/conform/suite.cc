#include "conform/suite.h"

#include <cstdarg>
#include <cstdio>

namespace gainz::conform {
namespace {

std::string text_of(const char* format, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  return text;
}

}  // namespace

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = text_of(format, arguments);
  va_end(arguments);
  throw Failed(text);
}

void unsupported(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = text_of(format, arguments);
  va_end(arguments);
  throw Unsupported(text);
}

void Trial::note(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  notes.push_back(text_of(format, arguments));
  va_end(arguments);
}

const std::vector<Test>& all_tests() {
  static const std::vector<Test> tests = [] {
    std::vector<Test> out;
    add_load_tests(out);
    add_contract_tests(out);
    add_op_tests(out);
    add_program_tests(out);
    add_kv_tests(out);
    add_model_tests(out);
    return out;
  }();
  return tests;
}

}  // namespace gainz::conform
