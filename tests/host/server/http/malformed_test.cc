// What no good client sends. Each is refused with its own status, the connection ends, and the next request works.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "host/server/http/raw_client.h"
#include "host/server/http/wire_server.h"
#include "support/sanitized.h"

namespace gainz::test {
namespace {

using namespace std::chrono_literals;

host::HttpLimits small_limits() {
  host::HttpLimits limits;
  limits.uri_bytes = 1000;
  limits.header_bytes = 4000;
  limits.num_headers = 20;
  limits.body_bytes = 50'000;
  limits.header_time = 400ms;
  limits.body_time = 400ms;
  limits.body_rate = 1'000'000;
  limits.linger_time = 300ms;
  return limits;
}

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void expect_refused(WireServer& server, const std::string& bytes, int status, const std::string& words = "") {
  RawClient client(server.port());
  const RawResponse response = client.ask(bytes);
  EXPECT_EQ(response.status, status) << bytes.substr(0, 200) << "\n" << response.body;
  EXPECT_EQ(response.header("connection"), "close");
  EXPECT_TRUE(response.body.starts_with(R"({"error":{"message":")")) << response.body;
  EXPECT_NE(response.body.find(words), std::string::npos) << response.body;
  EXPECT_TRUE(client.is_closed_within(2s));
  EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 200);
}

TEST(HttpMalformed, pb26_headers_that_contradict_or_break_the_rules) {
  WireServer server({.limits = small_limits()});
  const std::string line = "POST /echo HTTP/1.1\r\n";
  const std::string host = "Host: t\r\n";
  expect_refused(server, "GET /health HTTP/1.1\r\n\r\n", 400, "no host");
  expect_refused(server, line + host + host + "\r\n", 400, "host more than once");
  expect_refused(server, line + host + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400);
  expect_refused(server, line + host + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400);
  expect_refused(server, line + host + "Content-Length: 3, 4\r\n\r\nabcd", 400);
  expect_refused(server, line + host + "Content-Length: 3, 3\r\n\r\nabc", 400);
  expect_refused(server, line + host + "Content-Length: -1\r\n\r\n", 400);
  expect_refused(server, line + host + "Content-Length: 0x3\r\n\r\nabc", 400);
  expect_refused(server, line + host + "Content-Length: 99999999999999999999\r\n\r\n", 400);
  expect_refused(server, line + host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
  expect_refused(server, line + host + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400);
  expect_refused(server, line + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
  expect_refused(server, line + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "chunked");
  expect_refused(server, line + host + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501);
  expect_refused(server, "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
  expect_refused(server, line + host + "X-A : b\r\n\r\n", 400, "colon");
  expect_refused(server, line + host + "X-A: b\r\n c\r\n\r\n", 400, "folded");
  expect_refused(server, line + " Host: t\r\n\r\n", 400, "folded");
  expect_refused(server, line + host + ": b\r\n\r\n", 400);
  expect_refused(server, line + host + "no colon\r\n\r\n", 400);
  expect_refused(server, line + host + std::string("X-A: b\0c\r\n\r\n", 12), 400, "control character");
  expect_refused(server, line + host + "X-A: b\x01\r\n\r\n", 400);
  expect_refused(server, line + host + "X-A: b\rc\r\n\r\n", 400, "CR");
  expect_refused(server, line + "Host: t\nX: y\r\n\r\n", 400, "LF");
  expect_refused(server, line + "Host: a b\r\n\r\n", 400, "host");
  expect_refused(server, line + host + "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", 400);
}

TEST(HttpMalformed, pb26_request_lines) {
  WireServer server({.limits = small_limits()});
  expect_refused(server, "\x16\x03\x01\x02\r\n\r\n", 400);  // TLS on a plain port
  expect_refused(server, " GET / HTTP/1.1\r\nHost: t\r\n\r\n", 400);
  expect_refused(server, "GET /health\r\nHost: t\r\n\r\n", 400);
  expect_refused(server, "GET  /health HTTP/1.1\r\nHost: t\r\n\r\n", 400);
  expect_refused(server, "GET /health HTTP/1.1 x\r\nHost: t\r\n\r\n", 400);
  expect_refused(server, "GET /health HTTP/2.0\r\nHost: t\r\n\r\n", 505);
  expect_refused(server, "GET /health HTTP/1.2\r\nHost: t\r\n\r\n", 505);
  expect_refused(server, "GET /health http/1.1\r\nHost: t\r\n\r\n", 400);
  expect_refused(server, "GET health HTTP/1.1\r\nHost: t\r\n\r\n", 400, "begin with /");
  expect_refused(server, "GET /a%0 HTTP/1.1\r\nHost: t\r\n\r\n", 400, "percent");
  expect_refused(server, "GET /a%00b HTTP/1.1\r\nHost: t\r\n\r\n", 400, "percent");
  expect_refused(server, "GET /a%zzb HTTP/1.1\r\nHost: t\r\n\r\n", 400, "percent");
  expect_refused(server, "GET * HTTP/1.1\r\nHost: t\r\n\r\n", 400);
  expect_refused(server, std::string(40, 'A') + " / HTTP/1.1\r\nHost: t\r\n\r\n", 400, "method");
  expect_refused(server, std::string(5000, 'A'), 400);
}

TEST(HttpMalformed, pb26_sizes) {
  WireServer server({.limits = small_limits()});
  expect_refused(server, "GET /" + std::string(1000, 'a') + " HTTP/1.1\r\nHost: t\r\n\r\n", 414, "1000 bytes");
  expect_refused(server, "GET /" + std::string(2000, 'a'), 414);  // without an end
  expect_refused(server, get("/health", "X-Long: " + std::string(5000, 'a') + "\r\n"), 431, "4000 bytes");
  expect_refused(server, "GET /health HTTP/1.1\r\nX-Long: " + std::string(5000, 'a'), 431);  // without an end
  std::string many;
  for (int i = 0; i < 21; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  expect_refused(server, get("/health", many), 431, "20 fields");
  // Just within the limits.
  EXPECT_EQ(RawClient(server.port()).ask(get("/" + std::string(999, 'a'))).status, 404);
  std::string enough;
  for (int i = 0; i < 19; ++i) enough += "X-" + std::to_string(i) + ": y\r\n";
  EXPECT_EQ(RawClient(server.port()).ask(get("/health", enough)).status, 200);
}

TEST(HttpMalformed, pb26_a_line_without_an_end_costs_no_memory) {
  WireServer server;
  RawClient client(server.port());
  client.send("GET /health HTTP/1.1\r\nX-Endless: ");
  const std::string piece(1 << 20, 'a');
  const size_t before = resident_bytes();
  int num_sent = 0;
  while (num_sent < 1000 && client.send(piece)) ++num_sent;
  if (!kSanitized) {
    EXPECT_LT(resident_bytes(), before + (8 << 20)) << "of " << num_sent << " MiB sent";
  }
  EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 200);
}

TEST(HttpMalformed, pb26_slow_headers_end_with_408) {
  WireServer server({.limits = small_limits()});
  RawClient partial(server.port()), trickle(server.port()), silent(server.port());
  const auto begin = std::chrono::steady_clock::now();
  partial.send("GET /health HTTP/1.1\r\nHo");
  std::thread sender([&] {
    for (int i = 0; i < 40 && trickle.send("G"); ++i) std::this_thread::sleep_for(5ms);
  });
  EXPECT_EQ(partial.receive().status, 408);
  EXPECT_TRUE(silent.is_closed_within(2s));  // nothing was asked, nothing is answered
  sender.join();
  EXPECT_EQ(trickle.receive().status, 400);  // 33 letters are no method
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
  RawClient trickle_field(server.port());
  trickle_field.send("GET /health HTTP/1.1\r\nHost: t\r\nX: ");
  for (int i = 0; i < 100 && trickle_field.send("a"); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(trickle_field.receive().status, 408);
  EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 200);
}

TEST(HttpMalformed, requests_that_end_early) {
  WireServer server({.limits = small_limits()});
  RawClient header(server.port()), body(server.port());
  header.send("GET /health HTTP/1.1\r\nHo");
  header.end_sending();
  EXPECT_EQ(header.receive().status, 400);
  body.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
  body.end_sending();
  EXPECT_EQ(body.receive().status, 400);
}

}  // namespace
}  // namespace gainz::test
