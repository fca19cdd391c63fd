#include "server/http/response_head.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace gainz::host {
namespace {

constexpr size_t kMaxRequestIdBytes = 128;

struct Reason {
  int status;
  std::string_view phrase;
};
constexpr Reason kReasons[] = {
    {100, "Continue"},
    {200, "OK"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

std::string http_date(std::time_t now) {  // RFC 9110, 5.6.7; not in the locale's words
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday, kMonths[utc.tm_mon],
                     utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

void add_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  out += "\r\n";
}

}  // namespace

std::string_view reason_phrase(int status) {
  for (const Reason& reason : kReasons) {
    if (reason.status == status) return reason.phrase;
  }
  return "Unknown";
}

std::string response_head(int status, const ResponseFraming& framing, const HttpHeaders& headers) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
  add_field(out, "server", "gainz");
  add_field(out, "date", http_date(std::time(nullptr)));
  for (const auto& [name, value] : headers) add_field(out, name, value);
  if (framing.is_chunked) {
    add_field(out, "transfer-encoding", "chunked");
  } else if (framing.content_length && status != 204 && status != 304) {
    add_field(out, "content-length", fmt::format("{}", *framing.content_length));
  }
  if (!framing.keep_alive) {
    add_field(out, "connection", "close");
  } else if (framing.is_http_1_0) {
    add_field(out, "connection", "keep-alive");
  }
  return out + "\r\n";
}

HttpResponse error_response(ErrorForm form, const ApiError& error) {
  HttpResponse out;
  out.status = error.status;
  out.body = error_body(form, error);
  if (error.status == 401) out.headers.emplace_back("www-authenticate", "Bearer");
  if (error.retry_after) {
    const auto wait_ms = std::max<std::chrono::milliseconds::rep>(error.retry_after->count(), 0);
    out.headers.emplace_back("retry-after", fmt::format("{}", (wait_ms + 999) / 1000));
    out.headers.emplace_back("retry-after-ms", fmt::format("{}", wait_ms));
  }
  return out;
}

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxRequestIdBytes && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("._:+/=@-").find(c) != std::string_view::npos;
  });
}

std::string new_request_id() {
  std::array<unsigned char, 12> bytes{};
  RAND_bytes(bytes.data(), static_cast<int>(bytes.size()));
  std::string out = "req-";
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace gainz::host
