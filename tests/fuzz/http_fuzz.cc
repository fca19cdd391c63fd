// Fuzzes the path of a request's bytes: the reader, whole and in pieces that the first byte chooses, then the gate, the
// origin's rules and the answer's head with all that the request said. Both ways must agree.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

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

// Everything that was read, as text; the requests of one connection one after the other.
std::string read_all(std::string_view bytes, size_t piece_bytes) {
  static const HttpLimits limits = small_limits();
  static const gainz::host::Router router({kRoutes});
  static const gainz::host::Access access({{"name", "key"}}, {"https://a.example"});
  std::string out, waiting;
  auto reader = std::make_unique<RequestReader>(limits);
  for (size_t at = 0; at < bytes.size();) {
    const std::string_view piece = bytes.substr(at, piece_bytes);
    at += piece.size();
    waiting += piece;
    for (;;) {
      size_t taken = 0;
      const Step step = reader->read(waiting, taken);
      if (taken > waiting.size()) std::abort();
      waiting.erase(0, taken);
      if (step == Step::need_more) {
        if (waiting.size() > limits.header_bytes) std::abort();
        break;
      }
      if (step == Step::failed) {
        const auto response = error_response(gainz::host::ErrorForm::openai, reader->error());
        if (response.status < 400 || response.status > 505) std::abort();
        return out + std::to_string(response.status);
      }
      const gainz::host::HttpRequest& request = reader->request();
      if (request.body.size() > limits.body_bytes) std::abort();
      if (step == Step::done) {
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
      if (head.find("\r\n\r\n") != head.size() - 4) std::abort();
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = read_all(bytes, bytes.size() + 1);
  if (read_all(bytes, data[0] % 32 + 1u) != whole) std::abort();
  return 0;
}
