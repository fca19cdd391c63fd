// The body of /v1/responses as a request. Throws ApiError 400. One thread.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "config/settings.h"
#include "server/generation.h"

namespace gainz::host {

struct ResponsesRequest {
  std::string model;
  GenerationRequest generation;
  bool is_stream = false;
  boost::json::object echoed;  // the fields that the response repeats
};
ResponsesRequest read_responses_request(const boost::json::object& body, const Settings& settings);

}  // namespace gainz::host
