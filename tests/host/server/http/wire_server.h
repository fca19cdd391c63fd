// WireServer: a real HttpServer on a free port and a thread of its own, with routes made for tests of the wire:
//   GET  /health            no key; {"status":"ok"}
//   POST /echo              the body; x-test-key: the key's name
//   GET  /wait?MS           answers after so many ms, or at once with 503 when the exchange ends
//   GET  /stream?N,BYTES,MS N events of BYTES bytes, one each MS ms; 0 ms: as fast as they are taken
//   GET  /fail?KIND         api, secret, silent, api_in_stream, secret_in_stream, twice
//   POST /api/fail          an ApiError in Ollama's words
//   GET  /models/{}  GET /files/{*}   the path
// Owner: the test.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/http_server.h"

namespace gainz::test {

struct WireServerOptions {
  host::HttpLimits limits = {};
  std::vector<host::NamedKey> keys = {};
  std::vector<std::string> origins = {};
  std::string host = "127.0.0.1";
  host::TlsFiles tls = {};  // no certificate: plain
};

class WireServer {
 public:
  explicit WireServer(WireServerOptions options = {});
  ~WireServer();  // everything must end

  uint16_t port() const { return port_; }
  // Runs on the network thread and waits for it.
  void run(const std::function<void(host::HttpServer&)>& work);
  bool drained(std::chrono::milliseconds limit);

  std::vector<host::ExchangeRecord> records(size_t count);  // waits for so many: an answer is there before its record
  std::vector<std::string> problems();
  size_t num_connections();
  // Of /wait and /stream: exchanges whose handler began, whose on_gone was called, whose handler ended.
  std::atomic<int> num_begun = 0, num_gone = 0, num_ended = 0;
  // Waits for a condition that the network thread brings about.
  static bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = std::chrono::seconds(5));

 private:
  struct State;
  std::unique_ptr<State> state_;
  uint16_t port_ = 0;
};

}  // namespace gainz::test
