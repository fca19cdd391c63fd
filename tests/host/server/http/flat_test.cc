// Nothing grows: memory, descriptors and threads after thousands of requests of every kind.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "host/server/http/raw_client.h"
#include "host/server/http/wire_server.h"
#include "support/sanitized.h"

namespace gainz::test {
namespace {

using namespace std::chrono_literals;

struct Held {
  size_t anonymous_bytes = 0, num_descriptors = 0, num_threads = 0;
};

size_t num_entries(const char* folder) {
  size_t out = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++out;
  return out;
}

Held held() {
  Held out = {0, num_entries("/proc/self/fd"), num_entries("/proc/self/task")};
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    size_t kilobytes = 0;
    if ((word == "Anonymous:" || word == "Swap:") && file >> kilobytes) out.anonymous_bytes += kilobytes * 1024;
  }
  return out;
}

// A tenth cancelled, a tenth malformed, a tenth too large; the rest on connections that are kept for ten requests.
void ask_many(WireServer& server, int count) {
  auto kept = std::make_unique<RawClient>(server.port());
  for (int i = 0; i < count; ++i) {
    RawClient once(server.port());
    const std::string unique = std::to_string(i);
    switch (i % 10) {
      case 0:
        once.send(get("/wait?60000"));
        i % 20 == 0 ? once.reset() : once.close();
        break;
      case 1:
        EXPECT_EQ(once.ask("GET /health HTTP/1.1\r\nX-" + unique + " : y\r\n\r\n").status, 400);
        break;
      case 2:
        EXPECT_EQ(once.ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999\r\n\r\n").status, 413);
        break;
      case 3:
        EXPECT_EQ(once.ask(get("/stream?20,50,0")).body.size(), 20u * 58);
        break;
      case 4:
        once.send(get("/stream?1000,1000,1"));
        once.receive_bytes(2000);
        break;
      case 5:
        kept = std::make_unique<RawClient>(server.port());
        [[fallthrough]];
      default:
        EXPECT_EQ(kept->ask(post("/echo", unique, "X-Request-Id: id" + unique + "\r\n")).body, unique);
    }
  }
  kept.reset();
  EXPECT_TRUE(WireServer::eventually([&] { return server.num_connections() == 0; }));
}

TEST(HttpFlat, pb34_requests_leave_no_memory_descriptors_or_threads) {
  host::HttpLimits limits;
  limits.linger_time = 20ms;
  WireServer server({.limits = limits});
  constexpr int kRequests = 2000;
  ask_many(server, kRequests);  // warms caches and the allocator
  const Held before = held();
  ask_many(server, kRequests);
  const Held after = held();
  EXPECT_EQ(after.num_descriptors, before.num_descriptors);
  EXPECT_EQ(after.num_threads, before.num_threads);
  // With the records that the test itself keeps.
  EXPECT_TRUE(kSanitized || after.anonymous_bytes < before.anonymous_bytes + kRequests * size_t{1024})
      << after.anonymous_bytes - before.anonymous_bytes << " bytes more after " << kRequests << " requests";
}

}  // namespace
}  // namespace gainz::test
