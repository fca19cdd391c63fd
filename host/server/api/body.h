// The JSON body of a request, within [server].max_json_depth. A large one is parsed on a worker. Throws ApiError 400.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json.hpp>

#include "server/exchange.h"
#include "server/server.h"

namespace gainz::host {

inline constexpr size_t kLargeBodyBytes = 64 * 1024;
boost::asio::awaitable<boost::json::object> read_body(ServerContext& server, Exchange& exchange);

}  // namespace gainz::host
