// Many connections: floods, the limit on their number, idle ones, and what a server's end does to them.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/server/http/raw_client.h"
#include "host/server/http/wire_server.h"
#include "support/sanitized.h"

namespace gainz::test {
namespace {

using namespace std::chrono_literals;
using Clients = std::vector<std::unique_ptr<RawClient>>;

Clients connect(WireServer& server, int count) {
  Clients out;
  for (int i = 0; i < count; ++i) out.push_back(std::make_unique<RawClient>(server.port()));
  return out;
}

std::chrono::steady_clock::duration worst_health(WireServer& server, int count) {
  std::chrono::steady_clock::duration worst{};
  for (int i = 0; i < count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 200);
    worst = std::max(worst, std::chrono::steady_clock::now() - begin);
  }
  return worst;
}

TEST(HttpConnections, two_hundred_that_trickle_do_not_delay_a_good_one) {
  WireServer server;
  Clients slow = connect(server, 200);
  const std::string text = get("/health", "X-Slow: " + std::string(200, 'a'));
  for (size_t i = 0; i < 20; ++i) {
    for (auto& client : slow) client->send(text.substr(i, 1));
    EXPECT_LT(worst_health(server, 5), kSanitized ? 1000ms : 100ms);
  }
}

TEST(HttpConnections, thousands_of_pipelined_requests_do_not_delay_a_good_one) {
  WireServer server;
  std::string many;
  while (many.size() < 60'000) many += get("/health");
  std::atomic<bool> is_over = false;
  std::vector<std::thread> floods;
  for (int i = 0; i < 50; ++i) {
    floods.emplace_back([&, client = std::make_unique<RawClient>(server.port())] {
      while (!is_over && client->send(many)) client->receive_bytes(many.size(), 1s);
    });
  }
  const auto worst = worst_health(server, 20);
  is_over = true;
  for (auto& flood : floods) flood.join();
  EXPECT_LT(worst, kSanitized ? 2s : 500ms);
}

TEST(HttpConnections, the_longest_idle_one_makes_room) {
  host::HttpLimits limits;
  limits.num_connections = 4;
  WireServer server({.limits = limits});
  Clients idle = connect(server, 4);
  for (auto& client : idle) {
    EXPECT_EQ(client->ask(get("/health")).status, 200);
    std::this_thread::sleep_for(5ms);
  }
  idle[0]->ask(get("/health"));  // now the second has been idle longest
  RawClient fresh(server.port());
  EXPECT_EQ(fresh.ask(get("/health")).status, 200);
  EXPECT_TRUE(idle[1]->is_closed_within(1s));
  EXPECT_EQ(idle[0]->ask(get("/health")).status, 200);
}

TEST(HttpConnections, unfinished_headers_make_room_after_a_second) {
  host::HttpLimits limits;
  limits.num_connections = 4;
  WireServer server({.limits = limits});
  Clients slow = connect(server, 4);
  for (auto& client : slow) client->send("GET /hea");
  EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 503);  // they may be good clients
  std::this_thread::sleep_for(1100ms);
  EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 200);
  EXPECT_TRUE(slow[0]->is_closed_within(1s));
}

TEST(HttpConnections, unfinished_bodies_make_room_after_a_second_unless_they_come_at_the_rate) {
  host::HttpLimits limits;
  limits.num_connections = 4;
  limits.body_rate = 100;
  WireServer server({.limits = limits, .keys = {{"a", "k"}}});
  const std::string head = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n";
  Clients slow = connect(server, 3);
  for (size_t i = 0; i < slow.size(); ++i) slow[i]->send(head + (i == 0 ? "\r\n" : "X-Api-Key: k\r\n\r\n") + "a");
  RawClient good(server.port());
  good.send(head + "X-Api-Key: k\r\n\r\n" + std::string(500, 'a'));
  EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 503);
  std::this_thread::sleep_for(1200ms);
  Clients fresh = connect(server, 3);
  for (auto& client : fresh) {
    client->send("POST /echo HTTP/1.1\r\n");  // none of them idle
    EXPECT_TRUE(WireServer::eventually([&] { return server.num_connections() == 4; }));
  }
  for (auto& client : slow) EXPECT_TRUE(client->is_closed_within(1s));
  good.send(std::string(500, 'a'));
  EXPECT_EQ(good.receive().body.size(), 1000u);
}

TEST(HttpConnections, when_all_are_at_work_a_new_one_gets_503) {
  host::HttpLimits limits;
  limits.num_connections = 3;
  WireServer server({.limits = limits});
  Clients busy = connect(server, 3);
  for (auto& client : busy) client->send(get("/wait?300"));
  ASSERT_TRUE(WireServer::eventually([&] { return server.num_begun == 3; }));
  RawClient late(server.port());
  const RawResponse refused = late.ask(get("/health"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.is_whole);
  EXPECT_EQ(
      refused.body,
      R"({"error":{"message":"the server has too many connections","type":"server_error","param":null,"code":"server_busy"}})");
  for (auto& client : busy) EXPECT_EQ(client->receive().status, 200);
  EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 200);
}

TEST(HttpConnections, idle_ones_are_closed_after_a_while) {
  host::HttpLimits limits;
  limits.idle_time = 200ms;
  WireServer server({.limits = limits});
  RawClient client(server.port());
  EXPECT_EQ(client.ask(get("/health")).status, 200);
  EXPECT_TRUE(client.is_closed_within(2s));
  EXPECT_TRUE(WireServer::eventually([&] { return server.num_connections() == 0; }));
}

TEST(HttpConnections, out_of_descriptors_is_waited_out) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs descriptors for its own checks";
  WireServer server;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit tight = before;
  tight.rlim_cur = 64;
  setrlimit(RLIMIT_NOFILE, &tight);
  std::vector<int> taken;  // all descriptors but one, which the client's socket gets: the server finds none for its side
  for (int fd = dup(STDERR_FILENO); fd >= 0; fd = dup(STDERR_FILENO)) taken.push_back(fd);
  ASSERT_FALSE(taken.empty());
  ::close(taken.back());
  taken.pop_back();
  {
    const RawClient client(server.port());
    EXPECT_TRUE(client.is_connected());
    EXPECT_TRUE(WireServer::eventually([&] { return !server.problems().empty(); }));
  }
  for (const int fd : taken) ::close(fd);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 200);
  ASSERT_FALSE(server.problems().empty());
  EXPECT_NE(server.problems()[0].find("Too many open files"), std::string::npos) << server.problems()[0];
  EXPECT_LT(server.problems().size(), 60u);
}

const host::ApiError kShutdown = {503, "the server is shutting down", "server_error", "shutting_down", "", {}};

TEST(HttpLife, stopping_closes_idle_ones_and_lets_the_rest_finish) {
  WireServer server;
  RawClient idle(server.port()), busy(server.port());
  EXPECT_EQ(idle.ask(get("/health")).status, 200);
  busy.send(get("/wait?300") + get("/health"));
  ASSERT_TRUE(WireServer::eventually([&] { return server.num_begun == 1; }));
  server.run([](host::HttpServer& http) { http.stop_accepting(); });
  EXPECT_TRUE(idle.is_closed_within(1s));
  EXPECT_FALSE(RawClient(server.port()).is_connected());
  EXPECT_EQ(busy.receive().body, R"({"waited":true})");
  EXPECT_TRUE(server.drained(3s));
}

TEST(HttpLife, the_end_of_the_grace_is_the_last_word) {
  WireServer server;
  RawClient stream(server.port()), wait(server.port());
  stream.send(get("/stream?1000,5,60000"));
  wait.send(get("/wait?60000"));
  ASSERT_TRUE(WireServer::eventually([&] { return server.num_begun == 2; }));
  server.run([](host::HttpServer& http) {
    http.stop_accepting();
    http.end_all(kShutdown);
  });
  const RawResponse last = stream.receive();
  EXPECT_TRUE(last.is_whole);
  EXPECT_EQ(last.body,
            "data: {\"error\":{\"message\":\"the server is shutting "
            "down\",\"type\":\"server_error\",\"param\":null,\"code\":\"shutting_down\"}}\n\n");
  const RawResponse cut = wait.receive();
  EXPECT_EQ(cut.status, 503);
  EXPECT_NE(cut.body.find("shutting down"), std::string::npos) << cut.body;
  EXPECT_EQ(cut.header("connection"), "close");
  EXPECT_EQ(server.num_gone, 2);
  EXPECT_TRUE(server.drained(3s));
}

TEST(HttpLife, aborting_ends_everything_now) {
  WireServer server;
  host::HttpLimits limits;
  Clients clients = connect(server, 20);
  for (size_t i = 0; i < clients.size(); ++i) clients[i]->send(get(i % 2 ? "/wait?60000" : "/stream?100000,1000,0"));
  ASSERT_TRUE(WireServer::eventually([&] { return server.num_begun == 20; }));
  server.run([](host::HttpServer& http) {
    http.stop_accepting();
    http.abort_all();
  });
  EXPECT_TRUE(server.drained(1s));
  EXPECT_EQ(server.num_ended, 20);
}

}  // namespace
}  // namespace gainz::test
