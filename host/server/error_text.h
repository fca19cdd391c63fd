// An ApiError in the words of a route's API: as a body, and as an event inside a stream. Pure functions; any thread.
#pragma once

#include <string>

#include "server/api_error.h"
#include "server/route.h"

namespace gainz::host {

std::string error_body(ErrorForm form, const ApiError& error);   // JSON
std::string error_event(ErrorForm form, const ApiError& error);  // "data: {...}\n\n", or a line

}  // namespace gainz::host
