// Streams: framing, clients that leave, clients that read slowly.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "host/server/http/raw_client.h"
#include "host/server/http/wire_server.h"

namespace gainz::test {
namespace {

using namespace std::chrono_literals;

TEST(HttpStream, events_arrive_one_by_one_and_the_connection_goes_on) {
  WireServer server;
  RawClient client(server.port());
  const auto begin = std::chrono::steady_clock::now();
  client.send(get("/stream?3,4,100"));
  std::string seen;
  while (!seen.ends_with("data: xxxx")) seen += client.receive_bytes(1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 195ms) << "the first event waited for the second";
  RawClient whole(server.port());
  const RawResponse response = whole.ask(get("/stream?3,4,1"));
  EXPECT_TRUE(response.is_whole);
  EXPECT_EQ(response.header("content-type"), "text/event-stream");
  EXPECT_EQ(response.header("cache-control"), "no-cache");
  EXPECT_EQ(response.body, "data: xxxx\n\ndata: xxxx\n\ndata: xxxx\n\n");
  EXPECT_EQ(whole.ask(get("/health")).status, 200);
}

TEST(HttpStream, pb24_a_client_that_leaves_is_noticed_at_once) {
  WireServer server;
  for (const bool by_reset : {false, true}) {
    for (const char* path : {"/wait?60000", "/stream?1000,10,60000", "/stream?100000,10,1"}) {
      const int num_gone = server.num_gone;
      RawClient client(server.port());
      client.send(get(path));
      const int expected = server.num_begun + 1;
      ASSERT_TRUE(WireServer::eventually([&] { return server.num_begun >= expected || server.num_begun > server.num_ended; }));
      const auto begin = std::chrono::steady_clock::now();
      by_reset ? client.reset() : client.close();
      EXPECT_TRUE(WireServer::eventually([&] {
        return server.num_gone == num_gone + 1 && server.num_begun == server.num_ended;
      })) << path;
      EXPECT_LT(std::chrono::steady_clock::now() - begin, 200ms) << path;
    }
  }
  EXPECT_TRUE(WireServer::eventually([&] { return server.num_connections() == 0; }));
}

TEST(HttpStream, pb24_a_thousand_clients_that_leave_leave_nothing) {
  WireServer server;
  for (int i = 0; i < 1000; ++i) {
    RawClient client(server.port());
    client.send(get(i % 2 ? "/wait?60000" : "/stream?1000,100,5"));
    if (i % 6 == 0) client.receive_bytes(10);
    i % 5 == 0 ? client.reset() : client.close();
  }
  EXPECT_TRUE(WireServer::eventually([&] { return server.num_connections() == 0; }));
  EXPECT_EQ(server.num_begun, server.num_ended);
}

TEST(HttpStream, a_half_closed_client_has_left_but_short_answers_reach_it) {
  WireServer server;
  RawClient asks(server.port());
  asks.send(get("/health"));
  asks.end_sending();
  EXPECT_EQ(asks.receive().status, 200);
  RawClient waits(server.port());
  waits.send(get("/wait?60000"));
  waits.end_sending();
  EXPECT_EQ(waits.receive(2s).status, 503);  // the test's handler says so when its exchange ends
  RawClient streams(server.port());
  streams.send(get("/stream?1000,10,5"));
  streams.receive_bytes(10);
  streams.end_sending();
  EXPECT_TRUE(streams.is_closed_within(2s));
}

TEST(HttpStream, a_reader_that_takes_nothing_is_cut_off_within_the_bound) {
  host::HttpLimits limits;
  limits.write_time = 300ms;
  limits.write_rate = 10'000'000;
  limits.send_buffer_bytes = 32 * 1024;
  WireServer server({.limits = limits});
  RawClient client(server.port(), "127.0.0.1", 4096);
  const auto begin = std::chrono::steady_clock::now();
  client.send(get("/stream?100000,1000,0"));  // 100 MB
  EXPECT_TRUE(WireServer::eventually([&] { return server.num_ended == 1; }));
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 290ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1500ms);
  const auto records = server.records(1);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(records[0].is_gone);
  EXPECT_LT(records[0].bytes_out, 3'000'000u);
  EXPECT_EQ(RawClient(server.port()).ask(get("/health")).status, 200);
}

TEST(HttpStream, a_reader_that_trickles_is_cut_off_too) {
  host::HttpLimits limits;
  limits.write_time = 300ms;
  limits.send_buffer_bytes = 32 * 1024;
  WireServer server({.limits = limits});
  RawClient client(server.port(), "127.0.0.1", 4096);
  client.send(get("/stream?100000,1000,0"));
  for (int i = 0; i < 500 && server.num_ended == 0; ++i) {
    client.receive_bytes(1, 10ms);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(server.num_ended, 1);
}

TEST(HttpStream, a_reader_that_pauses_less_than_the_bound_gets_all) {
  host::HttpLimits limits;
  limits.write_time = 2s;
  limits.send_buffer_bytes = 32 * 1024;
  WireServer server({.limits = limits});
  RawClient client(server.port(), "127.0.0.1", 4096);
  client.send(get("/stream?3000,1000,0"));
  std::this_thread::sleep_for(500ms);
  const RawResponse response = client.receive(20s);
  EXPECT_TRUE(response.is_whole);
  EXPECT_EQ(response.body.size(), 3000u * 1008u);
}

TEST(HttpStream, slow_readers_do_not_delay_others) {
  host::HttpLimits limits;
  limits.send_buffer_bytes = 32 * 1024;
  WireServer server({.limits = limits});
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 30; ++i) {
    slow.push_back(std::make_unique<RawClient>(server.port(), "127.0.0.1", 4096));
    slow.back()->send(get("/stream?100000,1000,0"));
  }
  RawClient client(server.port());
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(client.ask(get("/health")).status, 200);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 200ms);
  }
}

}  // namespace
}  // namespace gainz::test
