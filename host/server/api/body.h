// The JSON body of a request, within [server].max_json_depth. A large one is parsed on a worker. Throws ApiError: 400, 415.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json.hpp>

#include "server/exchange.h"
#include "server/server.h"

namespace gainz::host {

// 415 unless the media type is one of JSON in UTF-8, or one that programs put on a body when nobody told them what it is ("",
// text/plain, application/x-www-form-urlencoded).
void check_content_type(std::string_view content_type);

inline constexpr size_t kLargeBodyBytes = 64 * 1024;
boost::asio::awaitable<boost::json::object> read_body(ServerContext& server, Exchange& exchange);

}  // namespace gainz::host
