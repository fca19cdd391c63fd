#include "server/http/gate.h"

#include <fmt/format.h>

#include "base/text.h"
#include "server/http/origin.h"

namespace gainz::host {
namespace {

constexpr size_t kMaxShownBytes = 200;

std::string shown(std::string_view text) { return printable(text.substr(0, kMaxShownBytes)); }

bool changes_nothing(std::string_view method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

}  // namespace

Verdict judge(const Router& router, const Access& access, const HttpRequest& request, bool is_loopback) {
  Verdict out;
  out.match = router.match(request.method, request.path);
  if (request.method == "OPTIONS" && !out.match.route && (!out.match.allow.empty() || request.path == "*")) {
    out.is_options = true;
    return out;
  }
  if (!changes_nothing(request.method) && is_foreign_page(access, request, is_loopback)) {
    out.refusal = ApiError{403,
                           fmt::format("pages of the origin {} may not use this server", shown(request.header("origin"))),
                           "invalid_request_error",
                           "origin_not_allowed",
                           "",
                           {}};
    return out;
  }
  const std::optional<std::string> key = access.key_name(request);
  if (key) out.key = *key;
  if (!key && (!out.match.route || out.match.route->needs_key)) {
    out.refusal = ApiError{401,
                           "Incorrect API key provided. Send a key of this server as `authorization: Bearer KEY`.",
                           "invalid_request_error",
                           "invalid_api_key",
                           "",
                           {}};
  } else if (out.match.allow.empty()) {
    out.refusal =
        not_found(fmt::format("Unknown request URL: {} {}", shown(request.method), shown(request.path)), "unknown_url");
  } else if (!out.match.route) {
    out.refusal = ApiError{405,
                           fmt::format("Not allowed to {} on {}", shown(request.method), shown(request.path)),
                           "invalid_request_error",
                           "method_not_allowed",
                           "",
                           {}};
  }
  return out;
}

HttpResponse options_response(const Access& access, const HttpRequest& request, const RouteMatch& match) {
  HttpResponse out;
  out.status = 204;
  const std::string allow = match.allow.empty() ? "GET, HEAD, POST, DELETE, OPTIONS" : match.allow;
  out.headers.emplace_back("allow", allow);
  if (is_preflight(request)) {
    for (auto& field : preflight_headers(access, request, allow)) out.headers.push_back(std::move(field));
  }
  return out;
}

}  // namespace gainz::host
