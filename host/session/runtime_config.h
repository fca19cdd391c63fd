// From settings to the runtime's structs, for `gainz run` and `gainz serve` alike. Any thread.
#pragma once

#include <gainz/gainz.h>

#include <string>

#include "config/settings.h"
#include "session/log_sink.h"

namespace gainz::host {

inline constexpr size_t kErrorBytes = 2048;  // of the C API's sentences

// The runtime's sentence, fit for a terminal; its code's name if there is none.
Failure failure_of(gainz_code code, const char* sentence);

// Its messages go to `log`, which must outlive it. Whoever calls destroys it.
Result<gainz_runtime*> make_runtime(const Settings& settings, LogSink& log);

// Points into its arguments.
gainz_model_config model_config_of(const std::string& path, const Settings& settings);

}  // namespace gainz::host
