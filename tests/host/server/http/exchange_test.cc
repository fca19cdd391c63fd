// Requests and answers on one connection: order, HEAD, OPTIONS, keep-alive, HTTP/1.0, ids, errors in each API's words.
#include <gtest/gtest.h>

#include <string>

#include "host/server/http/raw_client.h"
#include "host/server/http/wire_server.h"

namespace gainz::test {
namespace {

using namespace std::chrono_literals;

TEST(HttpExchange, answers_have_the_common_fields) {
  WireServer server;
  const RawResponse response = RawClient(server.port()).ask(get("/health"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.reason, "OK");
  EXPECT_EQ(response.header("server"), "gainz");
  EXPECT_TRUE(response.header("date").ends_with(" GMT"));
  EXPECT_EQ(response.header("date").size(), 29u);
  EXPECT_EQ(response.header("content-type"), "application/json");
  EXPECT_EQ(response.header("content-length"), "15");
  EXPECT_EQ(response.header("connection"), "");
  EXPECT_EQ(response.header("x-request-id").substr(0, 4), "req-");
}

TEST(HttpExchange, request_ids_are_the_clients_if_well_formed) {
  WireServer server;
  RawClient client(server.port());
  const auto id_for = [&](const std::string& id) {
    return client.ask(get("/health", "X-Request-Id: " + id + "\r\n")).header("x-request-id");
  };
  EXPECT_EQ(id_for("a-B.9_:+/=@"), "a-B.9_:+/=@");
  EXPECT_EQ(id_for(std::string(128, 'x')), std::string(128, 'x'));
  for (const std::string& bad : {std::string(129, 'x'), std::string("a b"), std::string("a\"b"), std::string("\xC3\xA4")})
    EXPECT_EQ(id_for(bad).substr(0, 4), "req-");
  EXPECT_NE(id_for(""), id_for(""));
}

TEST(HttpExchange, pipelined_requests_are_answered_in_order) {
  WireServer server;
  RawClient client(server.port());
  std::string all;
  for (int i = 0; i < 50; ++i) all += i % 7 == 0 ? get("/wait?3") : post("/echo", "body " + std::to_string(i));
  client.send(all + get("/health", "Connection: close\r\n"));
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(client.receive().body, i % 7 == 0 ? R"({"waited":true})" : "body " + std::to_string(i));
  const RawResponse last = client.receive();
  EXPECT_EQ(last.body, R"({"status":"ok"})");
  EXPECT_EQ(last.header("connection"), "close");
  EXPECT_TRUE(client.is_closed_within(2s));
}

TEST(HttpExchange, more_than_the_inbox_holds_can_be_pipelined) {
  WireServer server;
  RawClient client(server.port());
  const std::string body(200'000, 'a');
  client.send(get("/wait?100") + post("/echo", body) + post("/echo", body));
  EXPECT_EQ(client.receive().body, R"({"waited":true})");
  EXPECT_EQ(client.receive().body.size(), body.size());
  EXPECT_EQ(client.receive().body.size(), body.size());
}

TEST(HttpExchange, head_gives_the_head_alone) {
  WireServer server;
  RawClient client(server.port());
  client.send("HEAD /health HTTP/1.1\r\nHost: t\r\n\r\n");
  const RawResponse head = client.receive(2s, true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), "15");
  client.send("HEAD /stream?3,10,0 HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(client.receive(2s, true).header("content-type"), "text/event-stream");
  client.send("HEAD /none HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(client.receive(2s, true).status, 404);
  EXPECT_EQ(client.ask(get("/health")).body, R"({"status":"ok"})");  // nothing was left over
}

TEST(HttpExchange, http_1_0) {
  WireServer server;
  RawClient once(server.port());
  const RawResponse response = once.ask("GET /health HTTP/1.0\r\n\r\n");
  EXPECT_EQ(response.body, R"({"status":"ok"})");
  EXPECT_EQ(response.header("connection"), "close");
  EXPECT_TRUE(once.is_closed_within(2s));
  RawClient kept(server.port());
  EXPECT_EQ(kept.ask("GET /health HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").header("connection"), "keep-alive");
  EXPECT_EQ(kept.ask("GET /health HTTP/1.0\r\n\r\n").status, 200);
  RawClient streamed(server.port());
  const RawResponse stream = streamed.ask("GET /stream?3,5,0 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(stream.header("transfer-encoding"), "");
  EXPECT_EQ(stream.body, "data: xxxxx\n\ndata: xxxxx\n\ndata: xxxxx\n\n");
}

TEST(HttpExchange, paths_and_methods) {
  WireServer server;
  RawClient client(server.port());
  EXPECT_EQ(client.ask(get("//health")).status, 200);
  EXPECT_EQ(client.ask(get("http://t/health?x=1")).status, 200);
  EXPECT_EQ(client.ask(get("/h%65alth")).status, 200);
  EXPECT_EQ(client.ask(get("/models//a%20b")).body, "/models/a b");
  EXPECT_EQ(client.ask(get("/models/a/b")).status, 404);
  EXPECT_EQ(client.ask(get("/files/a/b")).body, "/files/a/b");
  EXPECT_EQ(client.ask(get("/models/")).status, 404);
  const RawResponse missing = client.ask(get("/no/such%0Apath"));
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.body, R"({"error":{"message":"Unknown request URL: GET /no/such\\x0Apath","type":"invalid_request_error",)"
                          R"("param":null,"code":"unknown_url"}})");
  EXPECT_EQ(client.ask(get("/api/none")).body, R"({"error":"Unknown request URL: GET /api/none"})");
  const RawResponse method = client.ask("DELETE /health HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.header("allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(client.ask("BREW /echo HTTP/1.1\r\nHost: t\r\n\r\n").header("allow"), "POST, OPTIONS");
}

TEST(HttpExchange, errors_speak_the_words_of_the_api) {
  WireServer server;
  RawClient client(server.port());
  const RawResponse api = client.ask(get("/fail?api"));
  EXPECT_EQ(api.status, 429);
  EXPECT_EQ(api.body,
            "{\"error\":{\"message\":\"too many \xC3\xA4 "
            "\xEF\xBF\xBD\",\"type\":\"rate_limit_error\",\"param\":\"n\",\"code\":\"slow_down\"}}");
  EXPECT_EQ(api.header("retry-after"), "2");
  EXPECT_EQ(api.header("retry-after-ms"), "1500");
  const RawResponse ollama = client.ask(post("/api/fail", ""));
  EXPECT_EQ(ollama.status, 404);
  EXPECT_EQ(ollama.body, R"({"error":"model \"x\" not found"})");
  EXPECT_EQ(client.ask(post("/api/fail", "stream")).body, "{\"n\":1}\n{\"error\":\"model \\\"x\\\" not found\"}\n");
  const RawResponse stream = client.ask(get("/fail?api_in_stream"));
  EXPECT_EQ(stream.status, 200);
  EXPECT_TRUE(stream.body.starts_with("data: {}\n\ndata: {\"error\":{\"message\":\"too many ")) << stream.body;
  EXPECT_TRUE(stream.body.ends_with("\"code\":\"slow_down\"}}\n\n")) << stream.body;
}

TEST(HttpExchange, an_exception_ends_one_exchange_and_keeps_its_text) {
  WireServer server;
  RawClient client(server.port());
  for (const char* kind : {"secret", "secret_in_stream", "number", "silent"}) {
    const RawResponse response = client.ask(get("/fail?" + std::string(kind)));
    EXPECT_EQ(response.status, std::string(kind).ends_with("stream") ? 200 : 500);
    EXPECT_NE(response.body.find("server_error"), std::string::npos) << response.body;
    EXPECT_EQ(response.body.find("secret text"), std::string::npos) << response.body;
    EXPECT_NE(response.body.find(response.header("x-request-id")), std::string::npos) << response.body;
  }
  EXPECT_EQ(client.ask(get("/fail?twice")).body, "1");
  EXPECT_EQ(client.ask(get("/health")).status, 200);
  const auto records = server.records(6);
  ASSERT_EQ(records.size(), 6u);
  EXPECT_EQ(records[0].problem, "secret text of the inside");
  EXPECT_EQ(records[0].status, 500);
  EXPECT_EQ(records[4].problem, "an answer was sent twice");
}

TEST(HttpExchange, no_value_can_add_a_field) {
  WireServer server;
  const RawResponse response = RawClient(server.port()).ask(get("/fail?fields"));
  EXPECT_EQ(response.header("x-bad"), "a  set-cookie: b");
  EXPECT_EQ(response.header("set-cookie"), "");
}

TEST(HttpExchange, pb02_bytes_that_are_no_utf8_never_come_back_raw) {
  WireServer server;
  RawClient client(server.port());
  for (const char* path : {"/%FF%FE", "/\xFF\xFE", "/%ED%A0%80", "/%C0%AF"}) {
    const RawResponse response = client.ask(get(path));
    EXPECT_TRUE(response.status == 404 || response.status == 400);
    for (const char c : response.body) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  }
}

TEST(HttpExchange, records_tell_what_happened) {
  WireServer server({.keys = {{"first", "k1"}}});
  RawClient client(server.port());
  client.ask(post("/echo?q=1", "abc", "X-Api-Key: k1\r\nX-Request-Id: mine\r\n"));
  client.ask(get("/models/x"));
  const auto records = server.records(2);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].id, "mine");
  EXPECT_EQ(records[0].key, "first");
  EXPECT_EQ(records[0].client, "127.0.0.1");
  EXPECT_EQ(records[0].method + " " + records[0].path, "POST /echo");
  EXPECT_EQ(records[0].route, "/echo");
  EXPECT_EQ(records[0].status, 200);
  EXPECT_EQ(records[0].bytes_in, 3u);
  EXPECT_EQ(records[0].bytes_out, 3u);
  EXPECT_EQ(records[1].status, 401);
  EXPECT_EQ(records[1].key, "");
}

}  // namespace
}  // namespace gainz::test
