// The commands, one file each. Each writes its answer to standard output, all else to standard error, and returns how it ended.
#pragma once

#include "base/result.h"
#include "cli/options.h"

namespace gainz::host {

Outcome run_command(const Options& options);
Outcome bench_command(const Options& options);
Outcome serve_command(const Options& options);  // server/
Outcome batch_command(const Options& options);  // batch/
Outcome devices_command(const Options& options);
Outcome pull_command(const Options& options);
Outcome list_command(const Options& options);
Outcome inspect_command(const Options& options);
Outcome config_command(const Options& options);

// The settings of a command, with their warnings said.
Result<Settings> settings_of(const Options& options);

}  // namespace gainz::host
