// The gate: what is decided about a request once its header is there and before its body is read. Pure function; any thread.
#pragma once

#include <optional>
#include <string>

#include "server/api_error.h"
#include "server/http/access.h"
#include "server/router.h"

namespace gainz::host {

struct Verdict {
  RouteMatch match;
  std::string key;                  // its name
  std::optional<ApiError> refusal;  // 401, 403, 404, 405
  bool is_options = false;          // answered by the server itself: see options_response
};

// In this order: pages of foreign origins, key, path, method. Unknown paths need a key too, so that they tell nothing.
Verdict judge(const Router& router, const Access& access, const HttpRequest& request, bool is_loopback);
HttpResponse options_response(const Access& access, const HttpRequest& request, const RouteMatch& match);

}  // namespace gainz::host
