// Where the server listens, and what happens when somebody else does already.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <string>

#include "host/server/http/raw_client.h"
#include "host/server/http/wire_server.h"
#include "server/http/listeners.h"

namespace gainz::test {
namespace {

using boost::asio::io_context;
using host::bind_listeners;
using host::url_of;

bool has_ipv6() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool out = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  ::close(fd);
  return out;
}

bool answers(uint16_t port, const std::string& address) {
  RawClient client(port, address);
  return client.is_connected() && client.ask(get("/health")).status == 200;
}

TEST(HttpListen, pb32_each_host_answers_as_documented) {
  const bool v6 = has_ipv6();
  if (!v6) printf("no IPv6 on this machine: its addresses are left out\n");
  const struct {
    const char* host;
    bool v4_answers, v6_answers;
  } cases[] = {{"127.0.0.1", true, false}, {"0.0.0.0", true, false}, {"localhost", true, true},
               {"::1", false, true},       {"::", true, true},       {"[::1]", false, true}};
  for (const auto& [host, v4_answers, v6_answers] : cases) {
    if (!v6 && std::string(host).find(':') != std::string::npos) continue;
    WireServer server({.host = host});
    EXPECT_EQ(answers(server.port(), "127.0.0.1"), v4_answers) << host;
    EXPECT_EQ(answers(server.port(), "::1"), v6 && v6_answers) << host;
  }
}

TEST(HttpListen, pb32_addresses_can_be_pasted_into_a_client) {
  using boost::asio::ip::make_address;
  EXPECT_EQ(url_of({make_address("127.0.0.1"), 80}, false), "http://127.0.0.1:80");
  EXPECT_EQ(url_of({make_address("::1"), 8080}, false), "http://[::1]:8080");
  EXPECT_EQ(url_of({make_address("0.0.0.0"), 1}, true), "https://127.0.0.1:1");
  EXPECT_EQ(url_of({make_address("::"), 1}, true), "https://[::1]:1");
  EXPECT_EQ(url_of({make_address("fe80::1%1"), 1}, false).substr(0, 17), "http://[fe80::1%2");
}

void expect_taken(const std::string& host, uint16_t port, const std::string& shown) {
  io_context io;
  const auto bound = bind_listeners(io, host, port);
  ASSERT_FALSE(bound.ok()) << host;
  EXPECT_EQ(bound.failure().sentence, shown + ":" + std::to_string(port) + " is taken by another program; choose another port");
}

TEST(HttpListen, pb31_a_taken_address_fails_at_once_and_is_named) {
  WireServer loopback;
  expect_taken("127.0.0.1", loopback.port(), "127.0.0.1");
  expect_taken("0.0.0.0", loopback.port(), "0.0.0.0");
  expect_taken("localhost", loopback.port(), "127.0.0.1");
  WireServer wildcard({.host = "0.0.0.0"});
  expect_taken("127.0.0.1", wildcard.port(), "127.0.0.1");
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 on this machine";
  expect_taken("::", loopback.port(), "[::]");
  WireServer both({.host = "::"});
  expect_taken("127.0.0.1", both.port(), "127.0.0.1");
  expect_taken("::1", both.port(), "[::1]");
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(answers(both.port(), "::1"));
}

TEST(HttpListen, pb31_a_port_is_never_shared) {
  // Not even with a program that asks for sharing.
  WireServer server;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes));
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 && ::listen(fd, 1) == 0;
  EXPECT_FALSE(bound);
  ::close(fd);
}

TEST(HttpListen, a_port_can_be_taken_again_at_once) {
  uint16_t port = 0;
  {
    WireServer first;
    port = first.port();
    RawClient client(port);
    EXPECT_EQ(client.ask(get("/health", "Connection: close\r\n")).status, 200);  // the server closes first: TIME_WAIT
  }
  io_context io;
  EXPECT_TRUE(bind_listeners(io, "127.0.0.1", port).ok());
}

TEST(HttpListen, hosts_that_are_none) {
  io_context io;
  const auto sentence = [&](const std::string& host, uint16_t port) {
    const auto bound = bind_listeners(io, host, port);
    return bound.ok() ? std::string("bound") : bound.failure().sentence;
  };
  EXPECT_NE(sentence("no.such.host.invalid", 0).find("no.such.host.invalid"), std::string::npos);
  EXPECT_NE(sentence("", 0).find("empty"), std::string::npos);
  EXPECT_NE(sentence("192.0.2.1", 0).find("192.0.2.1"), std::string::npos);  // an address that is not this machine's
  EXPECT_NE(sentence("fe80::1%nosuchzone", 0), "bound");
  const std::string low_port = sentence("127.0.0.1", 1);  // root may use any
  EXPECT_NE(low_port.find(geteuid() == 0 ? "bound" : "127.0.0.1:1 may not be used"), std::string::npos) << low_port;
}

}  // namespace
}  // namespace gainz::test
