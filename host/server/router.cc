#include "server/router.h"

#include <algorithm>

namespace gainz::host {
namespace {

enum class Fit { none, rest, segment, exact };  // in rising order of preference

Fit fit_of(std::string_view pattern, std::string_view path) {
  const size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) return pattern == path ? Fit::exact : Fit::none;
  const std::string_view fixed = pattern.substr(0, brace);
  if (!path.starts_with(fixed) || path.size() == fixed.size()) return Fit::none;
  if (pattern.substr(brace) == "{*}") return Fit::rest;
  return path.find('/', brace) == std::string_view::npos ? Fit::segment : Fit::none;
}

bool answers(const Route& route, std::string_view method) {
  return route.method == method || (method == "HEAD" && route.method == "GET");
}

void add_method(std::string& allow, std::string_view method) {
  if (allow.find(method) != std::string::npos) return;
  if (!allow.empty()) allow += ", ";
  allow += method;
}

}  // namespace

RouteMatch Router::match(std::string_view method, std::string_view path) const {
  RouteMatch found;
  found.form = path.starts_with("/api/") ? ErrorForm::ollama : ErrorForm::openai;
  Fit best = Fit::none;
  for (const std::span<const Route> table : tables_) {
    for (const Route& route : table) best = std::max(best, fit_of(route.path, path));
  }
  if (best == Fit::none) return found;
  for (const std::span<const Route> table : tables_) {
    for (const Route& route : table) {
      if (fit_of(route.path, path) != best) continue;
      found.form = route.form;
      add_method(found.allow, route.method);
      if (route.method == "GET") add_method(found.allow, "HEAD");
      if (answers(route, method) && (!found.route || route.method == method)) found.route = &route;
    }
  }
  add_method(found.allow, "OPTIONS");
  return found;
}

}  // namespace gainz::host
