// Route: what the server answers, one row each. The tables live beside the handlers (server/api/*.cc); server/routes.cc joins
// them into the one that connections search.
//
// GCC 12 compiles some coroutines wrongly (frames destroyed twice, seen here) or not at all. In a handler, and in any
// coroutine, a co_await stands alone: `co_await f(x);` or `const bool sent = co_await f(x);`, never inside if (...), while
// (...), !, &&, || or ?:, never `co_return co_await`; no braced temporary among its arguments (name it first, then std::move
// it).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <span>
#include <string_view>

#include "server/exchange.h"
#include "server/server.h"

namespace gainz::host {

// Words in which a route's errors are written.
enum class ErrorForm : uint8_t {
  openai,  // {"error":{"message","type","param","code"}}; inside a stream: data: {...}
  ollama,  // {"error":"..."}; inside a stream: a line of it
};

// Throws ApiError; what else it throws is a 500 without its text.
using Handler = boost::asio::awaitable<void> (*)(ServerContext& server, Exchange& exchange);

struct Route {
  std::string_view method;  // GET also answers HEAD
  std::string_view path;    // a last segment "{}" takes any one segment; "{*}" the rest
  Handler handler;
  ErrorForm form = ErrorForm::openai;
  bool needs_key = true;
  std::string_view summary;  // of /openapi.json
};

std::span<const Route> openai_routes();
std::span<const Route> responses_routes();
std::span<const Route> ollama_routes();
std::span<const Route> plain_routes();
std::span<const Route> page_routes();

}  // namespace gainz::host
