// TlsClient: a blocking client over TLS that trusts anything, and certificates made on the spot. Owner: the test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "host/temp_folder.h"
#include "server/http_server.h"

namespace gainz::test {

// A self-signed certificate for `name` and its key; with a passphrase the key is encrypted.
host::TlsFiles make_certificate(const TempFolder& folder, const std::string& name, const std::string& passphrase = "");

class TlsClient {
 public:
  // max_version: TLS1_2_VERSION ...; 0: any.
  explicit TlsClient(uint16_t port, int max_version = 0);
  ~TlsClient();

  bool is_connected() const;  // the handshake succeeded
  std::string version() const;
  std::string protocol() const;   // by ALPN
  std::string peer_name() const;  // the certificate's
  bool send(std::string_view bytes);
  std::string receive_until(std::string_view end);  // what came, up to and with `end`
  void drop();                                      // without close_notify

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gainz::test
