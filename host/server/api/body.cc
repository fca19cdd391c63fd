#include "server/api/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "config/settings.h"
#include "server/api/json_fields.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

constexpr std::array<std::string_view, 5> kTypes = {"", "application/json", "text/json", "text/plain",
                                                    "application/x-www-form-urlencoded"};

// Lower case without blanks and quotes.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '"') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

void check_content_type(std::string_view content_type) {
  const std::string text = plain(content_type);
  const size_t end = std::min(text.find(';'), text.size());
  const std::string_view type = std::string_view(text).substr(0, end);
  const bool is_json = std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end() ||
                       (type.starts_with("application/") && type.ends_with("+json"));
  const size_t charset = text.find(";charset=", end);
  constexpr size_t kCharsetBytes = std::string_view(";charset=").size();
  const std::string name = charset == std::string::npos ? "utf-8" : text.substr(charset + kCharsetBytes);
  const bool is_utf8 = name.starts_with("utf-8") || name.starts_with("utf8") || name.starts_with("us-ascii");
  if (is_json && is_utf8) return;
  throw ApiError{415,
                 fmt::format("the body must be JSON in UTF-8; content-type is {}", shown_name(content_type)),
                 "invalid_request_error",
                 "unsupported_media_type",
                 "",
                 {}};
}

boost::asio::awaitable<boost::json::object> read_body(ServerContext& server, Exchange& exchange) {
  check_content_type(exchange.request().header("content-type"));
  const std::string& text = exchange.request().body;
  const auto max_depth = static_cast<size_t>(server.settings().integer(key("server.max_json_depth")));
  if (text.size() < kLargeBodyBytes) co_return parse_body(text, max_depth);
  const auto out = std::make_shared<boost::json::object>();
  std::function<void()> work = [out, &text, max_depth] { *out = parse_body(text, max_depth); };
  co_await server.off_thread(std::move(work));
  co_return std::move(*out);
}

}  // namespace gainz::host
