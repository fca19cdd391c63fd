// Fuzzes the path of a request's bytes: the reader, whole and in pieces that the first byte chooses, then the gate, the
// origin's rules and the answer's head with all that the request said. Both ways must agree, and what was taken for a request
// must be one to a second reader too, which knows the strict form alone (RFC 9112) and none of our code.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "server/http/gate.h"
#include "server/http/origin.h"
#include "server/http/request_reader.h"
#include "server/http/response_head.h"

namespace {

using gainz::host::HttpLimits;
using gainz::host::RequestReader;
using Step = RequestReader::Step;

constexpr gainz::host::Route kRoutes[] = {
    {"GET", "/health", nullptr, gainz::host::ErrorForm::openai, false},
    {"POST", "/echo", nullptr},
    {"GET", "/models/{}", nullptr},
    {"POST", "/api/{*}", nullptr, gainz::host::ErrorForm::ollama},
};

HttpLimits small_limits() {
  HttpLimits limits;
  limits.uri_bytes = 256;
  limits.header_bytes = 1024;
  limits.num_headers = 16;
  limits.body_bytes = 4096;
  return limits;
}

void check(bool holds) {
  if (!holds) std::abort();
}

// Takes a line off the front: it ends with CR LF and holds neither elsewhere.
std::string_view take_line(std::string_view& bytes) {
  const size_t end = bytes.find('\n');
  check(end != std::string_view::npos && end > 0 && bytes[end - 1] == '\r');
  const std::string_view line = bytes.substr(0, end - 1);
  check(line.find('\r') == std::string_view::npos && line.find('\0') == std::string_view::npos);
  bytes.remove_prefix(end + 1);
  return line;
}

std::string unchunked(std::string_view& bytes) {
  std::string out;
  for (size_t size = 1; size > 0;) {
    const std::string_view line = take_line(bytes);
    const char* digits_end = std::from_chars(line.data(), line.data() + line.size(), size, 16).ptr;
    const std::string_view rest = line.substr(static_cast<size_t>(digits_end - line.data()));
    const size_t semicolon = rest.find_first_not_of(" \t");
    check(digits_end != line.data() && (rest.empty() || (semicolon != std::string_view::npos && rest[semicolon] == ';')));
    if (size == 0) break;
    check(bytes.size() >= size);
    out += bytes.substr(0, size);
    bytes.remove_prefix(size);
    check(take_line(bytes).empty());
  }
  while (!take_line(bytes).empty()) {
  }
  return out;
}

// raw: what the reader took for this request, with its body.
void check_framing(std::string_view raw, const std::string& body) {
  while (raw.starts_with("\r\n")) raw.remove_prefix(2);
  take_line(raw);
  int num_lengths = 0, num_codings = 0;
  size_t length = 0;
  for (std::string_view line = take_line(raw); !line.empty(); line = take_line(raw)) {
    const size_t colon = line.find(':');
    check(colon != std::string_view::npos && colon > 0 && line.find_first_of(" \t") > colon);
    std::string name(line.substr(0, colon));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const size_t value = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
    if (name == "content-length") {
      ++num_lengths;
      const auto end = std::from_chars(line.data() + value, line.data() + line.size(), length).ptr;
      check(end != line.data() + value &&
            std::string_view(end, line.data() + line.size()).find_first_not_of(" \t") == std::string_view::npos);
    }
    num_codings += name == "transfer-encoding";
  }
  check(num_lengths + num_codings <= 1);
  if (num_codings == 1) {
    check(unchunked(raw) == body && raw.empty());
  } else {
    check(raw == body && raw.size() == length);
  }
}

// Everything that was read, as text; the requests of one connection one after the other.
std::string read_all(std::string_view bytes, size_t piece_bytes) {
  static const HttpLimits limits = small_limits();
  static const gainz::host::Router router({kRoutes});
  static const gainz::host::Access access({{"name", "key"}}, {"https://a.example"});
  std::string out, waiting, raw;
  auto reader = std::make_unique<RequestReader>(limits);
  for (size_t at = 0; at < bytes.size();) {
    const std::string_view piece = bytes.substr(at, piece_bytes);
    at += piece.size();
    waiting += piece;
    for (;;) {
      size_t taken = 0;
      const Step step = reader->read(waiting, taken);
      check(taken <= waiting.size());
      raw.append(waiting, 0, taken);
      waiting.erase(0, taken);
      if (step == Step::need_more) {
        check(waiting.size() <= limits.header_bytes);
        break;
      }
      if (step == Step::failed) {
        const auto response = error_response(gainz::host::ErrorForm::openai, reader->error());
        check(response.status >= 400 && response.status <= 505);
        return out + std::to_string(response.status);
      }
      const gainz::host::HttpRequest& request = reader->request();
      check(request.body.size() <= limits.body_bytes);
      if (step == Step::done) {
        check_framing(std::exchange(raw, ""), request.body);
        out += request.body + "\n";
        reader = std::make_unique<RequestReader>(limits);
        continue;
      }
      const auto verdict = judge(router, access, request, true);
      auto headers = cors_headers(access, request);
      if (verdict.is_options) headers = options_response(access, request, verdict.match).headers;
      headers.emplace_back("x-request-id", std::string(request.header("x-request-id")));
      out += request.method + request.path + request.query + (verdict.refusal ? verdict.refusal->message : "");
      const std::string head = gainz::host::response_head(200, {.content_length = 0}, headers);
      check(head.find("\r\n\r\n") == head.size() - 4);
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = read_all(bytes, bytes.size() + 1);
  check(read_all(bytes, data[0] % 32 + 1u) == whole);
  return 0;
}
