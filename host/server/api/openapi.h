// /openapi.json: OpenAPI 3.1, made from the route tables. Any thread.
#pragma once

#include <boost/json.hpp>

namespace gainz::host {

boost::json::object openapi_document();

}  // namespace gainz::host
