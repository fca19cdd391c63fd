// Keys and origins, on the wire.
#include "server/http/access.h"

#include <gtest/gtest.h>

#include <string>

#include "host/server/http/raw_client.h"
#include "host/server/http/wire_server.h"

namespace gainz::test {
namespace {

using host::Access;

TEST(HttpAccess, keys_in_both_fields_and_any_case_of_the_scheme) {
  WireServer server({.keys = {{"alice", "key-a"}, {"bob", "key-b"}}});
  RawClient client(server.port());
  const auto name_for = [&](const std::string& fields) {
    const RawResponse response = client.ask(post("/echo", "x", fields));
    return response.status == 200 ? response.header("x-test-key") : std::to_string(response.status);
  };
  EXPECT_EQ(name_for("Authorization: Bearer key-a\r\n"), "alice");
  EXPECT_EQ(name_for("authorization: bearer key-b\r\n"), "bob");
  EXPECT_EQ(name_for("Authorization: BEARER   key-b\r\n"), "bob");
  EXPECT_EQ(name_for("X-Api-Key: key-a\r\n"), "alice");
  for (const char* bad :
       {"", "Authorization: key-a\r\n", "Authorization: Basic key-a\r\n", "Authorization: Bearer\r\n",
        "Authorization: Bearer key-\r\n", "Authorization: Bearer key-a2\r\n", "Authorization: Bearer KEY-A\r\n",
        "X-Api-Key: \r\n", "X-Api-Key: alice\r\n", "Authorization: Bearer x\r\nX-Api-Key: key-a\r\n"})
    EXPECT_EQ(name_for(bad), "401") << bad;
  EXPECT_EQ(client.ask(get("/health")).status, 200);
}

TEST(HttpAccess, the_refusal_is_openais) {
  WireServer server({.keys = {{"a", "secret-key"}}});
  RawClient client(server.port());
  const RawResponse response = client.ask(get("/models/x", "Authorization: Bearer offered-key\r\n"));
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(response.header("www-authenticate"), "Bearer");
  EXPECT_NE(response.body.find(R"("type":"invalid_request_error","param":null,"code":"invalid_api_key")"), std::string::npos);
  EXPECT_EQ(response.body.find("offered-key"), std::string::npos);
  // Whether a path exists is nobody else's business.
  EXPECT_EQ(client.ask(get("/none")).status, 401);
  EXPECT_EQ(client.ask("DELETE /echo HTTP/1.1\r\nHost: t\r\n\r\n").status, 401);
}

TEST(HttpAccess, without_keys_any_key_is_taken) {
  WireServer server;
  EXPECT_EQ(RawClient(server.port()).ask(post("/echo", "x", "Authorization: Bearer anything\r\n")).status, 200);
}

TEST(HttpAccess, keys_can_change_while_connections_live) {
  WireServer server({.keys = {{"a", "old"}}});
  RawClient client(server.port());
  EXPECT_EQ(client.ask(post("/echo", "x", "X-Api-Key: old\r\n")).status, 200);
  server.run([](host::HttpServer& http) { http.set_access(Access({{"b", "new"}}, {})); });
  EXPECT_EQ(client.ask(post("/echo", "x", "X-Api-Key: old\r\n")).status, 401);
  EXPECT_EQ(client.ask(post("/echo", "x", "X-Api-Key: new\r\n")).header("x-test-key"), "b");
}

std::string preflight(const std::string& path, const std::string& origin, const std::string& more = "") {
  return "OPTIONS " + path + " HTTP/1.1\r\nHost: t\r\nOrigin: " + origin + "\r\nAccess-Control-Request-Method: POST\r\n" +
         more + "\r\n";
}

TEST(HttpOrigin, listed_origins_get_what_they_need) {
  WireServer server({.keys = {{"a", "k"}}, .origins = {"https://chat.example", "http://localhost:3000"}});
  RawClient client(server.port());
  const RawResponse answer = client.ask(preflight(
      "/echo", "https://chat.example",
      "Access-Control-Request-Headers: authorization,x-stainless-os\r\nAccess-Control-Request-Private-Network: true\r\n"));
  EXPECT_EQ(answer.status, 204);  // and needs no key
  EXPECT_EQ(answer.header("access-control-allow-origin"), "https://chat.example");
  EXPECT_EQ(answer.header("access-control-allow-methods"), "POST, OPTIONS");
  EXPECT_EQ(answer.header("access-control-allow-headers"), "authorization,x-stainless-os");
  EXPECT_EQ(answer.header("access-control-allow-private-network"), "true");
  EXPECT_EQ(answer.header("access-control-allow-credentials"), "");
  EXPECT_EQ(answer.header("vary"), "origin");
  const RawResponse real = client.ask(post("/echo", "x", "Origin: http://localhost:3000\r\nX-Api-Key: k\r\n"));
  EXPECT_EQ(real.status, 200);
  EXPECT_EQ(real.header("access-control-allow-origin"), "http://localhost:3000");
  EXPECT_NE(real.header("access-control-expose-headers").find("x-request-id"), std::string::npos);
  // Errors can be read by the page too.
  const RawResponse refused = client.ask(post("/echo", "x", "Origin: http://localhost:3000\r\n"));
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.header("access-control-allow-origin"), "http://localhost:3000");
}

TEST(HttpOrigin, other_origins_are_never_reflected) {
  WireServer server({.origins = {"https://chat.example"}});
  RawClient client(server.port());
  for (const char* origin :
       {"https://evil.example", "https://chat.example.evil", "http://chat.example", "null", "file://", "*"}) {
    const std::string field = "Origin: " + std::string(origin) + "\r\n";
    const RawResponse answer = client.ask(preflight("/echo", origin));
    EXPECT_EQ(answer.status, 204);
    const RawResponse read = client.ask(get("/health", field));
    EXPECT_EQ(read.status, 200);
    const RawResponse refused = client.ask(post("/echo", "x", field));
    EXPECT_EQ(refused.status, 403) << origin;
    for (const RawResponse* response : {&answer, &read, &refused}) {
      EXPECT_EQ(response->header("access-control-allow-origin"), "");
      EXPECT_EQ(response->header("access-control-allow-credentials"), "");
      EXPECT_EQ(response->header("access-control-allow-headers"), "");
    }
  }
}

TEST(HttpOrigin, any_origin_means_no_credentials) {
  WireServer server({.origins = {"*"}});
  RawClient client(server.port());
  const RawResponse answer = client.ask(post("/echo", "x", "Origin: https://any.example\r\n"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("access-control-allow-origin"), "*");
  EXPECT_EQ(answer.header("access-control-allow-credentials"), "");
}

TEST(HttpOrigin, the_servers_own_page_may_ask_but_a_name_rebound_to_loopback_may_not) {
  WireServer server;
  RawClient client(server.port());
  const auto status_for = [&](const std::string& host, const std::string& origin) {
    return client.ask("POST /echo HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + origin + "\r\nContent-Length: 1\r\n\r\nx")
        .status;
  };
  EXPECT_EQ(status_for("127.0.0.1:8080", "http://127.0.0.1:8080"), 200);
  EXPECT_EQ(status_for("localhost:8080", "http://localhost:8080"), 200);
  EXPECT_EQ(status_for("[::1]:8080", "http://[::1]:8080"), 200);
  EXPECT_EQ(status_for("127.0.0.1:8080", "http://127.0.0.1:9000"), 403);
  EXPECT_EQ(status_for("rebound.example:8080", "http://rebound.example:8080"), 403);
  WireServer keyed({.keys = {{"a", "k"}}});
  EXPECT_EQ(RawClient(keyed.port())
                .ask("POST /echo HTTP/1.1\r\nHost: ai.example\r\nOrigin: https://ai.example\r\nX-Api-Key: k\r\nContent-Length: "
                     "1\r\n\r\nx")
                .status,
            200);
}

TEST(HttpOrigin, options_without_an_origin) {
  WireServer server({.keys = {{"a", "k"}}});
  RawClient client(server.port());
  const RawResponse answer = client.ask("OPTIONS /echo HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("allow"), "POST, OPTIONS");
  EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n").status, 204);
}

}  // namespace
}  // namespace gainz::test
