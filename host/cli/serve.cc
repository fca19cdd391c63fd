// gainz serve: the command line's half; see server/serve.h.
#include "server/serve.h"

#include "cli/commands.h"

namespace gainz::host {

Outcome serve_command(const Options& options) {
  ServeRequest request;
  request.read_settings = [&options] { return resolve_settings(options.environment, options.config_path, options.flags); };
  request.environment = options.environment;
  request.model = options.model;
  request.name = options.serve.name;
  return serve(request);
}

}  // namespace gainz::host
