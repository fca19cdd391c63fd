// HttpRequest and HttpResponse: one message each, as plain data. Value types; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gainz::host {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;  // names in lower case

struct HttpRequest {
  std::string method;  // as sent: "GET"
  std::string path;    // percent-decoded, runs of '/' collapsed, without the query: "/v1/models"
  std::string query;   // after '?', as sent
  HttpHeaders headers;
  std::string body;    // whole; chunks joined
  std::string client;  // the peer's address, for limits and the log

  std::string_view header(std::string_view lower_name) const;  // "" if there is none
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  HttpHeaders headers;  // further ones; content-length, date, x-request-id and CORS are added on the way out
  std::string body;
};

}  // namespace gainz::host
