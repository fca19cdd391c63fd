// What a plugin must leave as it was: threads, descriptors, environment, folder, signal handlers, floating-point mode.
#ifndef GAINZ_SDK_CONFORM_SYSTEM_STATE_H
#define GAINZ_SDK_CONFORM_SYSTEM_STATE_H

#include <signal.h>

#include "conform/suite.h"

namespace gainz::conform {

class SystemState {
 public:
  SystemState();
  // Fails, naming `call` and what changed.
  void require_same(const char* call) const;
  // The same for the floating-point mode of this thread, environment, folder and signal handlers alone: a device may hold
  // threads and descriptors while it is open.
  void require_same_modes(const char* call) const;

 private:
  size_t num_threads_, num_descriptors_;
  std::string environment_, folder_, locale_;
  unsigned float_mode_;
  std::vector<void (*)(int)> handlers_;
  void (*terminate_)();
};

}  // namespace gainz::conform

#endif
