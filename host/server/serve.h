// `gainz serve`, without the command line: starts the server, prints its address once it answers, and lives until a signal ends
// it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "config/settings.h"

namespace gainz::host {

struct ServeRequest {
  std::function<Result<Settings>()> read_settings;  // now, and again on SIGHUP
  Environment environment;
  std::optional<std::string> model;  // -m
  std::optional<std::string> name;   // --name
};

// SIGTERM and SIGINT drain: no new work, running requests get grace_seconds, then a last error event. A second one ends now.
// SIGHUP reads the settings again. From the main thread, whose signals it handles while it runs.
Outcome serve(const ServeRequest& request);

}  // namespace gainz::host
