// `gainz batch`: many requests from a file, as many at once as the model runs, answers into another. See docs/server.md. From
// the main thread.
#pragma once

#include <optional>
#include <string>

#include "base/files.h"
#include "config/settings.h"

namespace gainz::host {

struct BatchRequest {
  Settings settings;
  Environment environment;
  std::optional<std::string> model, name;  // -m, --name
  std::string input, output;
  std::string failures;          // "": the output's name with .failures
  uint32_t num_retries = 2;      // of a failure that may pass
  uint32_t timeout_seconds = 0;  // of one attempt; 0: none
};

// A failure also if tasks failed: the sentence counts them. Ctrl-C stops; the same command goes on.
Outcome run_batch(const BatchRequest& request);

}  // namespace gainz::host
