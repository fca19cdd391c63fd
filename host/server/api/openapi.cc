#include "server/api/openapi.h"

#include <gainz/gainz.h>

#include <algorithm>
#include <string>

#include "server/router.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

// "/v1/models/{*}" has one parameter, which OpenAPI wants to have a name.
std::string named_path(std::string_view path, bool& has_parameter) {
  std::string out(path);
  for (const std::string_view pattern : {"{}", "{*}"}) {
    const size_t at = out.find(pattern);
    if (at == std::string::npos) continue;
    out.replace(at, pattern.size(), "{id}");
    has_parameter = true;
  }
  return out;
}

json::object operation_of(const Route& route, bool has_parameter) {
  json::object out{{"summary", json::string(route.summary)}};
  json::object answers{{"200", {{"description", "the answer"}}}, {"default", {{"description", "an error"}}}};
  out["responses"] = std::move(answers);
  if (has_parameter) {
    out["parameters"] = json::array{{{"name", "id"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}};
  }
  if (route.method == "POST") {
    out["requestBody"] = {{"required", true}, {"content", {{"application/json", {{"schema", {{"type", "object"}}}}}}}};
  }
  if (!route.needs_key) out["security"] = json::array();
  return out;
}

}  // namespace

json::object openapi_document() {
  json::object paths;
  const Router router = make_router();
  for (const std::span<const Route> table : router.tables()) {
    for (const Route& route : table) {
      bool has_parameter = false;
      const std::string path = named_path(route.path, has_parameter);
      std::string method(route.method);
      std::transform(method.begin(), method.end(), method.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      json::value& entry = paths[path];
      if (!entry.is_object()) entry.emplace_object();
      entry.get_object()[method] = operation_of(route, has_parameter);
    }
  }
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "gainz"}, {"version", gainz_version()}}},
          {"security", json::array{{{"key", json::array()}}}},
          {"paths", std::move(paths)},
          {"components", {{"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace gainz::host
