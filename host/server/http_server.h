// HttpServer: the network half of `gainz serve`. Listens, speaks HTTP/1.1 with or without TLS, checks keys and limits, finds
// the route and runs its handler as an Exchange. Owner: the command. Thread: the one that runs `io`, for everything but the
// constructor. Destroy it before ServerContext and after `io` has stopped running.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/api_error.h"
#include "server/http/access.h"
#include "server/http/limits.h"
#include "server/router.h"

namespace boost::asio {
class io_context;
}

namespace gainz::host {

// One exchange that is over, for the log and the metrics. The texts may hold anything a client sent: escape them.
struct ExchangeRecord {
  std::string id, key, client, method, path;
  std::string_view route;  // the pattern, "" if none was found
  int status = 0;          // 0: nothing was answered
  bool is_gone = false;    // the client left before the end
  uint64_t bytes_in = 0;   // of the body
  uint64_t bytes_out = 0;  // of the body
  double seconds = 0;      // from the end of the header to the last byte of the answer
  std::string problem;     // what a handler threw that is no ApiError, for the log alone; "" if nothing
};

struct HttpHooks {  // each may be empty; called on the network thread
  std::function<void(const ExchangeRecord&)> on_exchange;
  std::function<void(const std::string& sentence)> on_problem;  // accept failures, TLS handshakes that fail: for the log
};

struct TlsFiles {           // PEM
  std::string certificate;  // chain
  std::string key;
};

class HttpServer {
 public:
  HttpServer(boost::asio::io_context& io, ServerContext& context, Router router, HttpLimits limits, Access access,
             HttpHooks hooks = {});
  ~HttpServer();

  // Reads the files now, so that a bad one stops the start; the listeners after it speak TLS 1.2 or later. Called again: new
  // connections use the new files; on a failure the old ones stay.
  Outcome use_tls(const TlsFiles& files);

  // host: an address ("127.0.0.1", "::1", "fe80::1%eth0", "0.0.0.0", "::") or "localhost" (both loopback addresses, as far as
  // the machine has them). "::" takes IPv4 too. port 0: any free one. May be called more than once. Fails at once with the
  // address named if it is taken. Binds now, so that a model need not load in vain; connections wait in the backlog until
  // start_accepting().
  Outcome listen(const std::string& host, uint16_t port);
  void start_accepting();
  // "http://127.0.0.1:8080", "https://[::1]:8080"; the first is for people, wildcards are shown as loopback.
  std::vector<std::string> urls() const;
  uint16_t port() const;  // of the first listener

  // Live changes; exchanges that run keep what they began with.
  void set_limits(const HttpLimits& limits);
  void set_access(Access access);

  // The life of a server ends in three steps, each of which may be the last: no more connections, idle ones closed, running
  // exchanges go on and then close; the exchanges' on_gone is called and `reason` is what a stream or an answer that has not
  // begun says last; sockets closed under what still runs.
  void stop_accepting();
  void end_all(const ApiError& reason);
  void abort_all();
  // Whether no connection is left, at the latest at `deadline`.
  boost::asio::awaitable<bool> drained(std::chrono::steady_clock::time_point deadline);

  size_t num_connections() const;
  size_t num_exchanges() const;

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace gainz::host
