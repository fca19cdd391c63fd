// What an attacker sends to make two parties disagree on where a request ends: each is refused and ends the connection, or is
// read as everybody reads it. After each the bytes behind it are counted: a request that was smuggled in would be answered.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/server/http/raw_client.h"
#include "host/server/http/wire_server.h"

namespace gainz::test {
namespace {

using namespace std::chrono_literals;

const std::string kPost = "POST /echo HTTP/1.1\r\nHost: t\r\n";
const std::string kChunked = kPost + "Transfer-Encoding: chunked\r\n\r\n";
const std::string kHidden = "GET /models/hidden HTTP/1.1\r\nHost: t\r\n\r\n";

host::HttpLimits short_limits() {
  host::HttpLimits limits;
  limits.header_time = limits.body_time = limits.idle_time = 300ms;
  limits.linger_time = 100ms;
  return limits;
}

// The statuses of all answers until the connection ends.
std::vector<int> statuses(WireServer& server, const std::string& bytes) {
  RawClient client(server.port());
  client.send(bytes);
  std::vector<int> out;
  for (RawResponse response = client.receive(3s); response.status != 0; response = client.receive(3s)) {
    out.push_back(response.status);
    EXPECT_EQ(response.body.find("hidden"), std::string::npos) << bytes;
  }
  return out;
}

TEST(HttpSmuggling, pb26_lengths_that_two_parties_could_read_in_two_ways) {
  WireServer server({.limits = short_limits()});
  for (const std::string fields : {
           "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
           "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
           "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
           "Content-Length: 0\r\nContent-Length: 5\r\n",
           "Content-Length: 5\r\nContent-Length: 5\r\n",
           "Content-Length: 5\r\nX: y\r\ncontent-length: 5\r\n",
           "Content-Length: +5\r\n",
           "Content-Length: 5 5\r\n",
           "Content-Length: 5,\r\n",
           "Content-Length: 0x5\r\n",
           "Content-Length: 5e0\r\n",
           "Content-Length: 5.0\r\n",
           "Content-Length: ５\r\n",
           "Content-Length:\r\n",
           "Content-Length : 5\r\n",
           "Content-Length\t: 5\r\n",
           "Content-Length\r\n: 5\r\n",
           "Content-Length: 18446744073709551616\r\n",
           "Content-Length: 5\r\n\tTransfer-Encoding: chunked\r\n",
           "X: y\r\n Content-Length: 5\r\n",
           "X: y\nContent-Length: 5\r\n",
           "X: y\rContent-Length: 5\r\n",
           "X: y\n\r\nContent-Length: 5\r\n",
           "Transfer-Encoding:\r\n",
           "Transfer-Encoding : chunked\r\n",
           "Transfer-Encoding\r\n : chunked\r\n",
           "Transfer-Encoding: \x0B"
           "chunked\r\n",
           "Transfer-Encoding: xchunked\r\n",
           "Transfer-Encoding: chunked, identity\r\n",
           "Transfer-Encoding: identity\r\n",
           "Transfer-Encoding: identity, chunked\r\n",
           "Transfer-Encoding: chunked, chunked\r\n",
           "Transfer-Encoding: chunked;q=1\r\n",
           "Transfer-Encoding: \"chunked\"\r\n",
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
           "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
       }) {
    const std::vector<int> got = statuses(server, kPost + fields + "\r\n0\r\n\r\n" + kHidden);
    ASSERT_EQ(got.size(), 1u) << fields;
    EXPECT_TRUE(got[0] == 400 || got[0] == 501) << got[0] << " for " << fields;
  }
}

TEST(HttpSmuggling, pb28_chunks_that_two_parties_could_read_in_two_ways) {
  WireServer server({.limits = short_limits()});
  for (const std::string body : {
           "3 \r\nabc\r\n0\r\n\r\n",
           " 3\r\nabc\r\n0\r\n\r\n",
           "3\t\r\nabc\r\n0\r\n\r\n",
           "+3\r\nabc\r\n0\r\n\r\n",
           "-3\r\nabc\r\n0\r\n\r\n",
           "0x3\r\nabc\r\n0\r\n\r\n",
           "3h\r\nabc\r\n0\r\n\r\n",
           "3,\r\nabc\r\n0\r\n\r\n",
           "3\nabc\r\n0\r\n\r\n",
           "3\rabc\r\n0\r\n\r\n",
           "3\r\nabcXX0\r\n\r\n",
           "3\r\nabc\n0\r\n\r\n",
           "3\r\nabc0\r\n\r\n",
           "3\r\nabc\r\n0\n\n",
           "3;a\nb\r\nabc\r\n0\r\n\r\n",
           "3;a\rb\r\nabc\r\n0\r\n\r\n",
           "3;a\n\r\nabc\r\n0\r\n\r\n",
           "3;a=\"b\r\nabc\r\n0\r\n\r\n",
           "3;a=\"\r\n\"\r\nabc\r\n0\r\n\r\n",
           "3;a=\"\\\r\n\"\r\nabc\r\n0\r\n\r\n",
           "1\r\na\r\n3;a=\"b\r\nabc\r\n0\r\n\r\n",
           "0;a=\"\r\n\"\r\n\r\n",
           "0;a=\"\n\"\r\n\r\n",
           "3;a=\"\n\"\r\nabc\r\n0\r\n\r\n",
           "3;\r\nabc\r\n0\r\n\r\n",
           "3; \x01\r\nabc\r\n0\r\n\r\n",
           "0;a\nb\r\n\r\n",
           "ffffffffffffffff3\r\nabc\r\n0\r\n\r\n",
           "10000000000000003\r\nabc\r\n0\r\n\r\n",
           "\r\n3\r\nabc\r\n0\r\n\r\n",
           "3\r\nabc\r\n0\r\nX: y\n\r\n\r\n",
           "3\r\nabc\r\n0\r\nX: y\n\r\n",
           "3\r\nabc\r\n0\r\nX y\r\n\r\n",
           "3\r\nabc\r\n0\r\nX : y\r\n\r\n",
           "3\r\nabc\r\n0\r\n y\r\n\r\n",
           "3\r\nabc\r\n0\r\nX: \x01\r\n\r\n",
           "3\r\nabc\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
           "3\r\nabc\r\n0\r\nContent-Length: 40\r\n\r\n",
       }) {
    const std::vector<int> got = statuses(server, kChunked + body + kHidden);
    ASSERT_EQ(got.size(), 1u) << body;
    EXPECT_EQ(got[0], 400) << body;
  }
}

TEST(HttpSmuggling, pb28_what_is_legal_ends_where_it_says) {
  WireServer server;
  RawClient client(server.port());
  const std::string long_zeros(300, '0');
  for (const std::string body : {"3\r\nabc\r\n0\r\n\r\n", "3;a\r\nabc\r\n0\r\n\r\n", "3 ;a = b\r\nabc\r\n0\r\n\r\n",
                                 "3;a=\"\\\"\"\r\nabc\r\n0;b\r\n\r\n", "3\r\nabc\r\n0\r\nX: y\r\nHost: other\r\n\r\n"}) {
    EXPECT_EQ(client.ask(kChunked + body).body, "abc") << body;
    EXPECT_EQ(client.ask(get("/models/next")).body, "/models/next") << body;
  }
  EXPECT_EQ(client.ask(kChunked + long_zeros + "3\r\nabc\r\n" + long_zeros + "\r\n\r\n").body, "abc");
  EXPECT_EQ(client.ask(kPost + "Content-Length: 003\r\n\r\nabc").body, "abc");
  EXPECT_EQ(client.ask(kPost + "Content-Length:3\t \r\n\r\nabc").body, "abc");
  EXPECT_EQ(client.ask(kPost + "tRANSFER-eNCODING:\tCHUNKED \r\n\r\n3\r\nabc\r\n0\r\n\r\n").body, "abc");
  EXPECT_EQ(client.ask(get("/models/next")).body, "/models/next");
}

TEST(HttpSmuggling, request_lines_that_two_parties_could_read_in_two_ways) {
  WireServer server({.limits = short_limits()});
  for (const std::string line : {
           "GET /health HTTP/1.1 \r\n",
           "GET\t/health HTTP/1.1\r\n",
           "GET /health\tHTTP/1.1\r\n",
           "GET /health  HTTP/1.1\r\n",
           "GET /he alth HTTP/1.1\r\n",
           "GET /health HTTP/1.1\t\r\n",
           "GET /health\x0BHTTP/1.1\r\n",
           "GET /health HTTP/01.1\r\n",
           "GET /health HTTP/1.10\r\n",
           "GET /health HTTP/1,1\r\n",
           "GET /health HTTP/11\r\n",
           "GET /health HTTP 1.1\r\n",
           "GET /health HTTP/1.1GET /\r\n",
           "GET /health\r\n",
           "GET\r\n",
           "G(T /health HTTP/1.1\r\n",
           "\xC3\xA4 /health HTTP/1.1\r\n",
           "GET t:80 HTTP/1.1\r\n",
           "CONNECT t:80 HTTP/1.1\r\n",
           "GET ftp://t/health HTTP/1.1\r\n",
           "GET http:///health HTTP/1.1\r\n",
           "GET http:/health HTTP/1.1\r\n",
           "GET /health#x HTTP/1.1\r\n",
           "OPTIONS *x HTTP/1.1\r\n",
           "\nGET /health HTTP/1.1\r\n",
           "\rGET /health HTTP/1.1\r\n",
           "\r\n\nGET /health HTTP/1.1\r\n",
       }) {
    const std::vector<int> got = statuses(server, line + "Host: t\r\n\r\n" + kHidden);
    ASSERT_EQ(got.size(), 1u) << line;
    EXPECT_TRUE(got[0] == 400 || got[0] == 505) << got[0] << " for " << line;
  }
}

TEST(HttpSmuggling, field_names_are_tokens) {
  WireServer server({.limits = short_limits()});
  for (const std::string name : {"X(A)", "X\xC3\xA4", "X\x7F", "X A", "\"X\"", "X[]", "X/Y", "X@", "X,Y", ""}) {
    const std::vector<int> got = statuses(server, "GET /health HTTP/1.1\r\nHost: t\r\n" + name + ": y\r\n\r\n" + kHidden);
    ASSERT_EQ(got.size(), 1u) << name;
    EXPECT_EQ(got[0], 400) << name;
  }
}

TEST(HttpSmuggling, other_protocols) {
  WireServer server({.limits = short_limits()});
  EXPECT_EQ(statuses(server, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + kHidden), std::vector<int>{505});
  EXPECT_EQ(statuses(server, "GET /health HTTP/3\r\n\r\n"), std::vector<int>{505});
  EXPECT_EQ(statuses(server, "EHLO t\r\nMAIL FROM:<a@t>\r\n\r\n"), std::vector<int>{400});
  EXPECT_EQ(statuses(server, std::string("\x05\x01\x00", 3)), std::vector<int>{400});  // SOCKS
  EXPECT_EQ(statuses(server, "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n" + get("/health")), std::vector<int>{400});
  // An upgrade is not made, and what follows is the next request.
  RawClient client(server.port());
  EXPECT_EQ(client.ask(get("/health", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n")).status,
            200);
  EXPECT_EQ(client.ask(post("/echo", "abc", "Connection: upgrade\r\nUpgrade: websocket\r\n")).body, "abc");
  EXPECT_EQ(client.ask(get("/models/next")).body, "/models/next");
}

TEST(HttpSmuggling, a_body_is_never_a_request_although_its_own_was_refused) {
  WireServer server({.keys = {{"a", "k"}}});
  RawClient client(server.port());
  const std::string key = "X-Api-Key: k\r\n";
  client.send(post("/none", kHidden, key) + post("/models/x", kHidden, key) + post("/echo", kHidden) +
              post("/fail", kHidden, key) + get("/models/last", key));
  for (const int status : {404, 405, 401, 405}) EXPECT_EQ(client.receive().status, status);
  EXPECT_EQ(client.receive().body, "/models/last");
  EXPECT_EQ(client.receive(200ms).status, 0);
}

TEST(HttpSmuggling, nothing_follows_the_last_request) {
  WireServer server;
  EXPECT_EQ(statuses(server, get("/health", "Connection: close\r\n") + kHidden), std::vector<int>{200});
  EXPECT_EQ(statuses(server, get("/health", "Connection: keep-alive\r\nConnection: close\r\n") + kHidden),
            std::vector<int>{200});
  EXPECT_EQ(statuses(server, get("/health", "Connection: x , Close\r\n") + kHidden), std::vector<int>{200});
  EXPECT_EQ(statuses(server, "GET /health HTTP/1.0\r\n\r\n" + kHidden), std::vector<int>{200});
}

TEST(HttpSmuggling, targets_with_an_authority) {
  WireServer server;
  RawClient client(server.port());
  EXPECT_EQ(client.ask(get("http://other.example:80/models/a")).body, "/models/a");
  EXPECT_EQ(client.ask(get("HTTP://t/models/a?x")).body, "/models/a");
  EXPECT_EQ(client.ask(get("https://[::1]:1/models/a")).body, "/models/a");
  EXPECT_EQ(client.ask("OPTIONS http://t HTTP/1.1\r\nHost: t\r\n\r\n").status, 404);
  // The authority of the target counts, not the host: RFC 9112, 3.2.2.
  const std::string fields = "Origin: http://rebound.example\r\nContent-Length: 1\r\n\r\nx";
  EXPECT_EQ(client.ask("POST http://127.0.0.1/echo HTTP/1.1\r\nHost: rebound.example\r\n" + fields).status, 403);
  EXPECT_EQ(client.ask("POST http://rebound.example/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n" + fields).status, 403);
}

}  // namespace
}  // namespace gainz::test
