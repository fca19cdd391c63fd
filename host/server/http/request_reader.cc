#include "server/http/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/text.h"
#include "server/http/chunk_reader.h"
#include "server/http/head_scanner.h"
#include "server/http/request_target.h"

namespace gainz::host {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using ErrorCode = boost::beast::error_code;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

// Beast's parser for the head alone: its reader of chunks lets a quoted extension hold line ends.
class Parser final : public http::basic_parser<true> {
 public:
  explicit Parser(HttpRequest& request) : request_(request) {}
  std::string target;
  unsigned version = 11;

 private:
  void on_request_impl(http::verb, string_view method, string_view path, int number, ErrorCode&) override {
    request_.method = {method.data(), method.size()};
    target = {path.data(), path.size()};
    version = static_cast<unsigned>(number);
  }
  void on_response_impl(int, string_view, int, ErrorCode&) override {}
  void on_field_impl(http::field, string_view name, string_view value, ErrorCode&) override {
    request_.headers.emplace_back(lower({name.data(), name.size()}), std::string(value.data(), value.size()));
  }
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(string_view body, ErrorCode&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, string_view, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, ErrorCode&) override { return body.size(); }
  void on_finish_impl(ErrorCode&) override {}

  HttpRequest& request_;
};

size_t num_fields(const HttpRequest& request, std::string_view name) {
  return static_cast<size_t>(
      std::count_if(request.headers.begin(), request.headers.end(), [&](const auto& field) { return field.first == name; }));
}

bool is_host(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::string_view("/\\@?#<>\"{}|^` \t,").find(static_cast<char>(c)) == std::string_view::npos && c > 0x20 && c < 0x7F;
  });
}

// Whether the comma-separated list has the word.
bool lists(std::string_view list, std::string_view word) {
  const std::string text = lower(list);
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string_view item = std::string_view(text).substr(at, comma - at);
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
    if (item == word) return true;
    at = comma + 1;
  }
  return false;
}

// Whether one of the comma-separated lists of that name has the word.
bool any_lists(const HttpRequest& request, std::string_view name, std::string_view word) {
  return std::any_of(request.headers.begin(), request.headers.end(),
                     [&](const auto& field) { return field.first == name && lists(field.second, word); });
}

}  // namespace

struct RequestReader::State {
  explicit State(const HttpLimits& given) : limits(given), scanner(given), parser(request), chunks(given) {
    parser.header_limit(static_cast<uint32_t>(limits.header_bytes + 4));
    parser.body_limit(boost::none);
    parser.eager(false);  // stops behind the head
  }

  Step refuse(int status, std::string message, std::string code = "") {
    error = {status, std::move(message), "invalid_request_error", std::move(code), "", {}};
    phase = Phase::failed;
    return Step::failed;
  }

  Step read_head(std::string_view bytes, size_t& out_taken);
  Step parse_head(std::string_view head);
  Step check_head();
  Step check_framing();
  Step read_body(std::string_view bytes, size_t& out_taken);
  void set_host(std::string_view authority);

  HttpLimits limits;
  HeadScanner scanner;
  HttpRequest request;
  Parser parser;
  ChunkReader chunks;
  RequestFraming framing;
  ApiError error;
  enum class Phase : uint8_t { before, head, body, done, failed } phase = Phase::before;
};

RequestReader::Step RequestReader::State::read_head(std::string_view bytes, size_t& out_taken) {
  if (phase == Phase::before) {
    while (bytes.size() - out_taken >= 2 && bytes.substr(out_taken, 2) == "\r\n") out_taken += 2;  // RFC 9112, 2.2
    bytes.remove_prefix(out_taken);
    if (bytes.empty() || bytes == "\r") return Step::need_more;
    phase = Phase::head;
  }
  switch (scanner.scan(bytes)) {
    case HeadScanner::Step::need_more:
      return Step::need_more;
    case HeadScanner::Step::failed:
      error = scanner.error();
      phase = Phase::failed;
      return Step::failed;
    case HeadScanner::Step::complete:
      break;
  }
  out_taken += scanner.num_bytes();
  return parse_head(bytes.substr(0, scanner.num_bytes()));
}

RequestReader::Step RequestReader::State::parse_head(std::string_view head) {
  ErrorCode why;
  const size_t taken = parser.put(boost::asio::const_buffer(head.data(), head.size()), why);
  if (why == http::error::bad_version) {
    const std::string_view line = head.substr(0, head.find('\r'));
    const std::string_view word = line.substr(line.rfind(' ') + 1);
    if (word.starts_with("HTTP/")) return refuse(505, "the server speaks HTTP/1.1, not " + printable(word.substr(0, 16)));
    return refuse(400, "the request line is malformed");
  }
  if (why == http::error::bad_field)
    return refuse(400, "the name of a header field is malformed (no space may precede the colon)");
  if (why == http::error::bad_transfer_encoding || why == http::error::bad_content_length ||
      why == http::error::multiple_content_length)
    return refuse(400, "content-length and transfer-encoding are malformed or contradict each other");
  if (why || taken != head.size() || !parser.is_header_done()) return refuse(400, "the request's header is malformed");
  return check_head();
}

void RequestReader::State::set_host(std::string_view authority) {
  for (auto& [name, value] : request.headers) {
    if (name == "host") value = authority;
  }
}

RequestReader::Step RequestReader::State::check_head() {
  framing.is_http_1_0 = parser.version == 10;
  Result<RequestTarget> target = parse_request_target(parser.target);
  if (!target.ok()) return refuse(400, target.failure().sentence);
  if (target->path == "*" && request.method != "OPTIONS") return refuse(400, "the request target * is for OPTIONS alone");
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  for (const std::string_view name : {"host", "content-length", "transfer-encoding", "content-type", "content-encoding",
                                      "authorization", "x-api-key", "origin"}) {
    if (num_fields(request, name) > 1) return refuse(400, fmt::format("the header has the field {} more than once", name));
  }
  if (!framing.is_http_1_0 && num_fields(request, "host") == 0) return refuse(400, "the header has no host");
  if (!target->authority.empty()) set_host(target->authority);
  if (!is_host(request.header("host"))) return refuse(400, "the host is malformed");
  framing.keep_alive =
      !any_lists(request, "connection", "close") && (!framing.is_http_1_0 || any_lists(request, "connection", "keep-alive"));
  return check_framing();
}

RequestReader::Step RequestReader::State::check_framing() {
  if (const std::string_view coding = request.header("transfer-encoding"); num_fields(request, "transfer-encoding") > 0) {
    if (framing.is_http_1_0) return refuse(400, "HTTP/1.0 has no transfer-encoding");
    if (lower(coding) != "chunked")
      return refuse(501, "the only transfer-encoding is chunked, not " + printable(coding.substr(0, 64)));
    framing.is_chunked = true;
  }
  if (num_fields(request, "content-length") > 0) {
    // Beast takes lists of equal numbers too.
    framing.content_length = parse_unsigned(request.header("content-length"));
    if (!framing.content_length) return refuse(400, "content-length must be one number");
  }
  if (num_fields(request, "expect") > 0 && !framing.is_http_1_0) {
    if (lower(request.header("expect")) != "100-continue")
      return refuse(417, "the only expectation is 100-continue, not " + printable(request.header("expect").substr(0, 64)));
    framing.expects_continue = true;
  }
  if (framing.content_length.value_or(0) > limits.body_bytes)
    return refuse(413, fmt::format("the body has {} bytes, at most {} are taken", *framing.content_length, limits.body_bytes),
                  "body_too_large");
  if (const std::string_view coding = request.header("content-encoding"); !coding.empty() && lower(coding) != "identity")
    return refuse(415, "the body must not be compressed; content-encoding is " + printable(coding.substr(0, 64)),
                  "unsupported_content_encoding");
  phase = framing.has_body() ? Phase::body : Phase::done;
  return Step::head;
}

RequestReader::Step RequestReader::State::read_body(std::string_view bytes, size_t& out_taken) {
  if (framing.is_chunked) {
    const ChunkReader::Step step = chunks.read(bytes, out_taken, request.body);
    if (step == ChunkReader::Step::need_more) return Step::need_more;
    if (step == ChunkReader::Step::failed) {
      error = chunks.error();
      phase = Phase::failed;
      return Step::failed;
    }
  } else {
    out_taken = static_cast<size_t>(std::min<uint64_t>(*framing.content_length - request.body.size(), bytes.size()));
    request.body.append(bytes.substr(0, out_taken));
    if (request.body.size() < *framing.content_length) return Step::need_more;
  }
  phase = Phase::done;
  return Step::done;
}

RequestReader::RequestReader(const HttpLimits& limits) : state_(std::make_unique<State>(limits)) {}
RequestReader::~RequestReader() = default;

RequestReader::Step RequestReader::read(std::string_view bytes, size_t& out_taken) {
  out_taken = 0;
  switch (state_->phase) {
    case State::Phase::before:
    case State::Phase::head:
      return state_->read_head(bytes, out_taken);
    case State::Phase::body:
      return state_->read_body(bytes, out_taken);
    case State::Phase::done:
      return Step::done;
    case State::Phase::failed:
      return Step::failed;
  }
  return Step::failed;
}

bool RequestReader::has_begun() const { return state_->phase != State::Phase::before; }
HttpRequest& RequestReader::request() { return state_->request; }
const RequestFraming& RequestReader::framing() const { return state_->framing; }
const ApiError& RequestReader::error() const { return state_->error; }

}  // namespace gainz::host
