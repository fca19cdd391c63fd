#include "conform/system_state.h"

#include <dirent.h>
#include <fenv.h>
#include <locale.h>
#include <unistd.h>

#include <exception>

namespace gainz::conform {
namespace {

size_t entries_of(const char* path) {
  size_t count = 0;
  DIR* folder = opendir(path);
  if (folder == nullptr) return 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

// Rounding, and on x86 also how denormals are treated; the sticky exception bits do not count.
unsigned float_mode() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & ~0x3Fu;
#else
  return static_cast<unsigned>(fegetround());
#endif
}

std::string environment() {
  std::string all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) all += std::string(*entry) + "\n";
  return all;
}

std::string folder() {
  char path[4096];
  return getcwd(path, sizeof path) != nullptr ? path : "";
}

std::vector<void (*)(int)> handlers() {
  std::vector<void (*)(int)> out;
  for (int signal = 1; signal < 32; ++signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    out.push_back(action.sa_handler);
  }
  return out;
}

}  // namespace

SystemState::SystemState()
    : num_threads_(entries_of("/proc/self/task")),
      num_descriptors_(entries_of("/proc/self/fd")),
      environment_(environment()),
      folder_(folder()),
      locale_(setlocale(LC_ALL, nullptr)),
      float_mode_(float_mode()),
      handlers_(handlers()),
      terminate_(std::get_terminate()) {}

void SystemState::require_same_modes(const char* call) const {
  GAINZ_REQUIRE(float_mode() == float_mode_, "%s changes the floating-point mode", call);
  GAINZ_REQUIRE(environment() == environment_, "%s changes the environment", call);
  GAINZ_REQUIRE(folder() == folder_, "%s changes the current folder", call);
  GAINZ_REQUIRE(setlocale(LC_ALL, nullptr) == locale_, "%s changes the locale", call);
  GAINZ_REQUIRE(handlers() == handlers_, "%s installs a signal handler", call);
  GAINZ_REQUIRE(std::get_terminate() == terminate_, "%s replaces the terminate handler", call);
}

void SystemState::require_same(const char* call) const {
  require_same_modes(call);
  const size_t threads = entries_of("/proc/self/task"), descriptors = entries_of("/proc/self/fd");
  GAINZ_REQUIRE(threads == num_threads_, "%s: %zu threads before, %zu after", call, num_threads_ - 2, threads - 2);
  GAINZ_REQUIRE(descriptors == num_descriptors_, "%s: %zu descriptors before, %zu after", call, num_descriptors_ - 3,
                descriptors - 3);
}

}  // namespace gainz::conform
