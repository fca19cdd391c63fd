// Bodies: chunked in every legal form, and every way in which one can be too large, malformed or late.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "host/server/http/raw_client.h"
#include "host/server/http/wire_server.h"

namespace gainz::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kChunkedHead = "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";

host::HttpLimits small_limits() {
  host::HttpLimits limits;
  limits.header_bytes = 8000;
  limits.body_bytes = 100'000;
  limits.body_time = 400ms;
  limits.body_rate = 1'000'000;
  return limits;
}

std::string chunk(const std::string& data, const std::string& extension = "") {
  char size[20];
  snprintf(size, sizeof(size), "%zx", data.size());
  return size + extension + "\r\n" + data + "\r\n";
}

void expect_refused(WireServer& server, const std::string& bytes, int status) {
  RawClient client(server.port());
  const RawResponse response = client.ask(bytes);
  EXPECT_EQ(response.status, status) << bytes.substr(0, 200) << "\n" << response.body;
  EXPECT_EQ(response.header("connection"), "close");
  EXPECT_EQ(RawClient(server.port()).ask(post("/echo", "next")).body, "next");
}

TEST(HttpBody, pb28_chunks_give_what_a_plain_body_gives) {
  WireServer server({.limits = small_limits()});
  const std::string text = "the body, \xC3\xA4 and all\r\n\r\n0\r\n\r\nof it";
  std::string single;
  for (const char c : text) single += chunk(std::string(1, c));
  const std::string last = "0\r\n\r\n";
  const std::string bodies[] = {
      chunk(text) + last,
      single + last,
      chunk(text.substr(0, 5), ";name") + chunk(text.substr(5), ";a=b;c=\"d e\"") + "0;last=1\r\n\r\n",
      chunk(text) + "0\r\nX-Trailer: 1\r\nAuthorization: Bearer none\r\n\r\n",
      "00" + chunk(text) + "000\r\n\r\n",
  };
  RawClient client(server.port());
  EXPECT_EQ(client.ask(post("/echo", text)).body, text);
  for (const std::string& body : bodies) {
    const RawResponse response = client.ask(kChunkedHead + body);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, text) << body;
  }
  // Each byte in a packet of its own.
  for (const char c : kChunkedHead + bodies[2]) client.send(std::string(1, c));
  EXPECT_EQ(client.receive().body, text);
}

TEST(HttpBody, pb28_malformed_chunks) {
  WireServer server({.limits = small_limits()});
  const std::string head = kChunkedHead;
  expect_refused(server, head + "x\r\n", 400);
  expect_refused(server, head + "\r\n", 400);
  expect_refused(server, head + "-1\r\n", 400);
  expect_refused(server, head + "3\r\nabcd\r\n0\r\n\r\n", 400);
  expect_refused(server, head + "3\r\nab\r\n0\r\n\r\n", 400);
  expect_refused(server, head + "3\nabc\n0\n\n", 400);
  expect_refused(server, head + "3;=x\r\nabc\r\n0\r\n\r\n", 400);
  expect_refused(server, head + "10000000000000000\r\n", 400);                      // 2^64
  expect_refused(server, head + "0\r\nContent-Length: 3\r\n\r\n", 400);             // a trailer that would reframe
  expect_refused(server, head + "3;" + std::string(9000, 'x'), 431);                // an extension without an end
  expect_refused(server, head + "0\r\nX-Trailer: " + std::string(9000, 'x'), 431);  // a trailer without an end
}

TEST(HttpBody, pb28_too_large) {
  WireServer server({.limits = small_limits()});
  const std::string head = kChunkedHead;
  expect_refused(server, head + "FFFFFFFFFFFFFFFF\r\n", 413);
  expect_refused(server, head + "80000000\r\n", 413);
  expect_refused(server, head + chunk(std::string(60'000, 'a')) + "c350\r\n", 413);  // the sum is too large
  expect_refused(server, "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 40000000000\r\n\r\n", 413);
  expect_refused(server, "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 100001\r\n\r\n", 413);
  EXPECT_EQ(RawClient(server.port()).ask(post("/echo", std::string(100'000, 'a'))).body.size(), 100'000u);
}

TEST(HttpBody, pb28_the_refusal_of_200_mb_arrives) {
  WireServer server;
  RawClient client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 200000000\r\n\r\n");
  const std::string piece(1'000'000, 'a');
  for (int i = 0; i < 200 && client.send(piece); ++i) {
  }
  const RawResponse response = client.receive();
  EXPECT_EQ(response.status, 413);
  EXPECT_NE(response.body.find("200000000 bytes, at most 16777216"), std::string::npos) << response.body;
}

TEST(HttpBody, pb28_unknown_codings) {
  WireServer server({.limits = small_limits()});
  for (const char* coding : {"gzip", "deflate", "br", "x"})
    expect_refused(server, post("/echo", "abc", "Content-Encoding: " + std::string(coding) + "\r\n"), 415);
  EXPECT_EQ(RawClient(server.port()).ask(post("/echo", "abc", "Content-Encoding: identity\r\n")).body, "abc");
}

TEST(HttpBody, a_length_beyond_the_body_times_out_and_one_short_of_it_is_no_request) {
  WireServer server({.limits = small_limits()});
  expect_refused(server, "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc", 408);
  expect_refused(server, kChunkedHead + chunk("abc"), 408);  // the last chunk is missing
  RawClient client(server.port());
  EXPECT_EQ(client.ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc{}").body, "abc");
  EXPECT_EQ(client.receive().status, 400);
}

TEST(HttpBody, a_body_must_come_at_a_rate) {
  host::HttpLimits limits = small_limits();
  limits.body_rate = 1000;
  WireServer server({.limits = limits});
  RawClient slow(server.port()), steady(server.port());
  slow.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n");
  steady.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n");
  std::thread sender([&] {
    for (int i = 0; i < 100 && slow.send("a"); ++i) std::this_thread::sleep_for(10ms);
  });
  for (int i = 0; i < 10; ++i) {  // 0.8 s, twice body_time
    steady.send(std::string(100, 'b'));
    std::this_thread::sleep_for(80ms);
  }
  EXPECT_EQ(steady.receive().body.size(), 1000u);
  EXPECT_EQ(slow.receive().status, 408);
  sender.join();
}

TEST(HttpBody, a_body_that_stalls_is_dropped_however_much_came_before) {
  host::HttpLimits limits = small_limits();
  limits.body_rate = 1000;
  WireServer server({.limits = limits});
  RawClient client(server.port());
  const auto begin = std::chrono::steady_clock::now();
  client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 60000\r\n\r\n" + std::string(50'000, 'a'));  // good for 50 s
  EXPECT_EQ(client.receive().status, 408);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

TEST(HttpBody, all_bodies_together_are_bounded) {
  host::HttpLimits limits = small_limits();
  limits.all_body_bytes = 150'000;
  limits.body_time = 5s;
  WireServer server({.limits = limits});
  RawClient first(server.port()), second(server.port());
  const std::string head = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n";
  first.send(head + std::string(99'999, 'a'));
  std::this_thread::sleep_for(50ms);
  const RawResponse refused = second.ask(head + std::string(99'999, 'b'));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("retry-after"), "1");
  first.send("a");
  EXPECT_EQ(first.receive().body.size(), 100'000u);
  EXPECT_EQ(RawClient(server.port()).ask(post("/echo", std::string(100'000, 'c'))).status, 200);
}

TEST(HttpExpect, pb29_the_interim_answer_comes_at_once) {
  WireServer server;
  RawClient client(server.port());
  const std::string body(2'000'000, 'a');
  const auto begin = std::chrono::steady_clock::now();
  client.send("POST /echo HTTP/1.1\r\nHost: t\r\nExpect: 100-Continue\r\nContent-Length: 2000000\r\n\r\n");
  EXPECT_EQ(client.receive_bytes(25), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 50ms);
  client.send(body);
  EXPECT_EQ(client.receive().body, body);
  EXPECT_EQ(client.ask(get("/health")).status, 200);  // and the connection goes on
}

TEST(HttpExpect, pb29_a_refusal_is_final_and_leaves_the_body_unread) {
  host::HttpLimits limits = small_limits();
  WireServer server({.limits = limits, .keys = {{"k", "right"}}});
  const struct {
    const char* fields;
    const char* path;
    int status;
  } cases[] = {
      {"Authorization: Bearer wrong\r\nContent-Length: 1000\r\n", "/echo", 401},
      {"Authorization: Bearer right\r\nContent-Length: 1000\r\n", "/none", 404},
      {"Authorization: Bearer right\r\nContent-Length: 1000\r\n", "/wait", 405},
      {"Authorization: Bearer right\r\nContent-Length: 1000000\r\n", "/echo", 413},
      {"Authorization: Bearer right\r\nContent-Length: 1000\r\nContent-Encoding: gzip\r\n", "/echo", 415},
  };
  for (const auto& [fields, path, status] : cases) {
    RawClient client(server.port());
    const RawResponse response =
        client.ask("POST " + std::string(path) + " HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n" + fields + "\r\n");
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(response.header("connection"), "close");
    EXPECT_TRUE(client.is_closed_within(3s));
  }
}

TEST(HttpExpect, pb29_other_expectations_and_http_1_0) {
  WireServer server;
  EXPECT_EQ(RawClient(server.port()).ask(post("/echo", "abc", "Expect: the-unexpected\r\n")).status, 417);
  RawClient old(server.port());
  old.send("POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(old.receive_bytes(1, 200ms), "") << "HTTP/1.0 knows no interim answer";
  old.send("abc");
  EXPECT_EQ(old.receive().body, "abc");
}

}  // namespace
}  // namespace gainz::test
