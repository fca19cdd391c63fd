// gainz batch: the command line's half; see batch/batch.h.
#include "batch/batch.h"

#include "cli/commands.h"

namespace gainz::host {

Outcome batch_command(const Options& options) {
  Result<Settings> settings = settings_of(options);
  if (!settings.ok()) return settings.failure();
  BatchRequest request;
  request.name = options.batch.name;
  request.input = options.batch.input;
  request.output = options.batch.output;
  request.failures = options.batch.failures;
  request.num_retries = options.batch.num_retries;
  request.timeout_seconds = options.batch.timeout_seconds;
  request.settings = *std::move(settings);
  request.environment = options.environment;
  request.model = options.model;
  return run_batch(request);
}

}  // namespace gainz::host
