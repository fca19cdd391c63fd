// Router: finds the route of a request in the joined tables. Owner: HttpServer; the tables are constant data. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/route.h"

namespace gainz::host {

struct RouteMatch {
  const Route* route = nullptr;        // nothing: see `allow`
  std::string allow;                   // methods of the path: "GET, HEAD, OPTIONS"; "": the path is unknown
  ErrorForm form = ErrorForm::openai;  // for errors, also when there is no route
};

class Router {
 public:
  explicit Router(std::vector<std::span<const Route>> tables) : tables_(std::move(tables)) {}

  // An exact path is preferred to one with a "{}", and that to one with "{*}". HEAD finds the GET route, unless the path has
  // one of its own. The path is a decoded one (HttpRequest::path).
  RouteMatch match(std::string_view method, std::string_view path) const;

  const std::vector<std::span<const Route>>& tables() const { return tables_; }

 private:
  std::vector<std::span<const Route>> tables_;
};

// All tables of this server.
Router make_router();

}  // namespace gainz::host
