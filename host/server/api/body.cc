#include "server/api/body.h"

#include "config/settings.h"
#include "server/api/json_fields.h"

namespace gainz::host {

boost::asio::awaitable<boost::json::object> read_body(ServerContext& server, Exchange& exchange) {
  const std::string& text = exchange.request().body;
  const auto max_depth = static_cast<size_t>(server.settings().integer(key("server.max_json_depth")));
  if (text.size() < kLargeBodyBytes) co_return parse_body(text, max_depth);
  const auto out = std::make_shared<boost::json::object>();
  std::function<void()> work = [out, &text, max_depth] { *out = parse_body(text, max_depth); };
  co_await server.off_thread(std::move(work));
  co_return std::move(*out);
}

}  // namespace gainz::host
