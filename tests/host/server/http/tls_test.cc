// The same server under TLS.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <fstream>
#include <string>

#include "host/server/http/raw_client.h"
#include "host/server/http/tls_client.h"
#include "host/server/http/wire_server.h"

namespace gainz::test {
namespace {

using namespace std::chrono_literals;

TEST(HttpTls, requests_and_streams) {
  const TempFolder folder;
  WireServer server({.tls = make_certificate(folder, "first")});
  TlsClient client(server.port());
  ASSERT_TRUE(client.is_connected());
  EXPECT_EQ(client.version(), "TLSv1.3");
  EXPECT_EQ(client.protocol(), "http/1.1");
  EXPECT_EQ(client.peer_name(), "first");
  client.send(get("/health") + post("/echo", "abc"));
  EXPECT_TRUE(client.receive_until("}").starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(client.receive_until("abc").ends_with("\r\n\r\nabc"));
  client.send(get("/stream?3,4,20"));
  const std::string stream = client.receive_until("\r\n0\r\n\r\n");
  EXPECT_NE(stream.find("data: xxxx\n\n\r\nc\r\ndata: xxxx\n\n\r\nc\r\ndata: xxxx"), std::string::npos) << stream;
  const std::string body(3'000'000, 'b');
  client.send(post("/echo", body, "Connection: close\r\n"));
  const std::string answer = client.receive_until("(the orderly end)");
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, body.size());
}

TEST(HttpTls, versions_before_1_2_are_refused) {
  const TempFolder folder;
  WireServer server({.tls = make_certificate(folder, "first")});
  EXPECT_FALSE(TlsClient(server.port(), TLS1_1_VERSION).is_connected());
  EXPECT_TRUE(TlsClient(server.port(), TLS1_2_VERSION).is_connected());
  EXPECT_TRUE(WireServer::eventually([&] { return !server.problems().empty(); }));
}

TEST(HttpTls, clients_that_leave_are_noticed) {
  const TempFolder folder;
  WireServer server({.tls = make_certificate(folder, "first")});
  for (const bool orderly : {true, false}) {
    const int num_gone = server.num_gone;
    {
      TlsClient client(server.port());
      client.send(get("/wait?60000"));
      ASSERT_TRUE(WireServer::eventually([&] { return server.num_begun == num_gone + 1; }));
      if (!orderly) client.drop();
    }
    EXPECT_TRUE(WireServer::eventually([&] { return server.num_gone == num_gone + 1; }, 500ms));
  }
}

TEST(HttpTls, a_handshake_has_a_deadline_and_plain_text_is_none) {
  const TempFolder folder;
  host::HttpLimits limits;
  limits.tls_handshake = 200ms;
  WireServer server({.limits = limits, .tls = make_certificate(folder, "first")});
  RawClient silent(server.port()), plain(server.port());
  plain.send(get("/health"));
  EXPECT_TRUE(plain.is_closed_within(2s));
  EXPECT_TRUE(silent.is_closed_within(2s));
  EXPECT_TRUE(TlsClient(server.port()).is_connected());
}

TEST(HttpTls, certificates_can_be_replaced_while_connections_live) {
  const TempFolder folder;
  WireServer server({.tls = make_certificate(folder, "first")});
  TlsClient old(server.port());
  const host::TlsFiles second = make_certificate(folder, "second");
  server.run([&](host::HttpServer& http) { EXPECT_TRUE(http.use_tls(second).ok()); });
  EXPECT_EQ(TlsClient(server.port()).peer_name(), "second");
  old.send(get("/health"));
  EXPECT_TRUE(old.receive_until("}").starts_with("HTTP/1.1 200"));
  // Bad files change nothing.
  server.run([&](host::HttpServer& http) { EXPECT_FALSE(http.use_tls({folder.file("none"), second.key}).ok()); });
  EXPECT_EQ(TlsClient(server.port()).peer_name(), "second");
}

TEST(HttpTls, bad_files_are_named) {
  const TempFolder folder;
  const host::TlsFiles good = make_certificate(folder, "good"), other = make_certificate(folder, "other"),
                       locked = make_certificate(folder, "locked", "a passphrase");
  std::ofstream(folder.file("junk")) << "no PEM at all";
  WireServer server;
  const auto sentence = [&](const host::TlsFiles& files) {
    std::string out = "accepted";
    server.run([&](host::HttpServer& http) {
      if (const host::Outcome outcome = http.use_tls(files); !outcome.ok()) out = outcome.failure().sentence;
    });
    return out;
  };
  EXPECT_TRUE(sentence({folder.file("none"), good.key}).starts_with("the TLS certificate " + folder.file("none")));
  EXPECT_TRUE(sentence({folder.file("junk"), good.key}).starts_with("the TLS certificate " + folder.file("junk")));
  EXPECT_TRUE(sentence({good.certificate, folder.file("junk")}).starts_with("the TLS key " + folder.file("junk")));
  EXPECT_TRUE(sentence(locked).starts_with("the TLS key " + locked.key)) << "and nobody was asked for the passphrase";
  EXPECT_NE(sentence({good.certificate, other.key}), "accepted");
  EXPECT_EQ(sentence(good), "accepted");
}

}  // namespace
}  // namespace gainz::test
