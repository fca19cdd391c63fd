#include "server/http/origin.h"

#include <algorithm>

#include "server/http/head_scanner.h"

namespace gainz::host {
namespace {

constexpr size_t kMaxRequestedHeaders = 1024;  // bytes

std::string_view authority_of(std::string_view origin) {
  const size_t slashes = origin.find("://");
  return slashes == std::string_view::npos ? std::string_view() : origin.substr(slashes + 3);
}

// A name can be made to point anywhere, an address cannot.
bool is_address_or_localhost(std::string_view authority) {
  if (authority.starts_with('[')) return true;
  const std::string_view host = authority.substr(0, authority.find(':'));
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  return host.find_first_not_of("0123456789.") == std::string_view::npos && !host.empty();
}

bool are_header_names(std::string_view list) {
  return list.size() <= kMaxRequestedHeaders &&
         std::all_of(list.begin(), list.end(), [](unsigned char c) { return c == ',' || c == ' ' || is_token_char(c); });
}

}  // namespace

bool is_foreign_page(const Access& access, const HttpRequest& request, bool is_loopback) {
  const std::string_view origin = request.header("origin");
  if (origin.empty() || access.allows_origin(origin)) return false;
  const std::string_view authority = authority_of(origin);
  const bool is_own = !authority.empty() && authority == request.header("host");
  return !is_own || (is_loopback && !access.has_keys() && !is_address_or_localhost(authority));
}

HttpHeaders cors_headers(const Access& access, const HttpRequest& request) {
  const std::string_view origin = request.header("origin");
  if (origin.empty() || !access.allows_origin(origin)) return {};
  if (access.any_origin())
    return {{"access-control-allow-origin", "*"},
            {"access-control-expose-headers", "x-request-id, retry-after, retry-after-ms"}};
  return {{"access-control-allow-origin", std::string(origin)},
          {"vary", "origin"},
          {"access-control-expose-headers", "x-request-id, retry-after, retry-after-ms"}};
}

bool is_preflight(const HttpRequest& request) {
  return request.method == "OPTIONS" && !request.header("origin").empty() &&
         !request.header("access-control-request-method").empty();
}

HttpHeaders preflight_headers(const Access& access, const HttpRequest& request, std::string_view allow) {
  if (!access.allows_origin(request.header("origin"))) return {};
  HttpHeaders out = {{"access-control-allow-methods", std::string(allow)}, {"access-control-max-age", "600"}};
  const std::string_view names = request.header("access-control-request-headers");
  if (!names.empty() && are_header_names(names)) out.emplace_back("access-control-allow-headers", std::string(names));
  if (request.header("access-control-request-private-network") == "true")
    out.emplace_back("access-control-allow-private-network", "true");
  return out;
}

}  // namespace gainz::host
