// Submission: a GenerationRequest as the runtime takes it, and the server's own bounds on one. Any thread.
#pragma once

#include <gainz/gainz.h>

#include <string>

#include "config/settings.h"
#include "server/generation.h"

namespace gainz::host {

// Bounds of [server] that need no runtime: output tokens, stops, priority, time. Fills in what the request leaves open. Throws
// ApiError 400 that names the field, the value and the limit.
void apply_limits(const Settings& settings, GenerationRequest& request);

struct Submitted {
  gainz_code code = GAINZ_OK;
  std::string error;
  gainz_request_id request = 0;
};

// Counts the prompt's tokens if max_prompt_tokens says so (LIMIT_EXCEEDED names both numbers), then gainz_submit. Tokenizes: on
// a worker.
Submitted submit(gainz_runtime* runtime, gainz_model_id model, uint64_t handle, size_t max_prompt_tokens,
                 GenerationRequest& request);

}  // namespace gainz::host
