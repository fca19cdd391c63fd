// Connection: one client's socket, from the handshake to the end. One coroutine reads requests, judges them and runs their
// handlers in order; a second one, Inbox, reads ahead. Owner: its coroutines; ServerState knows it. Thread: the network thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "server/http/http_exchange.h"
#include "server/http/inbox.h"
#include "server/http/outbox.h"
#include "server/http/request_reader.h"
#include "server/http/server_state.h"
#include "server/http/wire.h"

namespace gainz::host {

struct Verdict;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // client: the peer's address, for limits and the log.
  Connection(std::shared_ptr<ServerState> state, const boost::asio::any_io_executor& executor, std::unique_ptr<Wire> wire,
             std::string client, bool is_loopback);
  ~Connection();

  void start();
  void close();                      // at once
  void close_if_idle();              // between two requests
  void end(const ApiError& reason);  // an exchange that runs gets its last word; else as close()

  // How readily it gives its place to a new one: 0 never, 1 a handshake, header or body that is not finished after a second,
  // a body not at its rate either, 2 idle; and since when.
  int spare() const;
  std::chrono::steady_clock::time_point since() const { return since_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase : uint8_t { handshake, idle, header, body, exchange, closing };
  enum class Read : uint8_t { ok, refused, ended };  // refused: refusal_ says why

  struct Running;

  boost::asio::awaitable<void> serve();
  boost::asio::awaitable<bool> shake_hands();
  boost::asio::awaitable<bool> serve_one();  // false: no further request
  boost::asio::awaitable<Read> read_head();
  boost::asio::awaitable<Read> read_body();
  boost::asio::awaitable<bool> answer(HttpExchange& exchange, const Verdict& verdict);
  boost::asio::awaitable<void> refuse(HttpExchange& exchange, const ApiError& error);  // the connection does not go on
  boost::asio::awaitable<void> finish();
  bool must_refuse_unread(const Verdict& verdict) const;
  RequestReader::Step read_some();
  void set_phase(Phase phase);
  void on_input_end();
  void report(const HttpExchange& exchange) const;

  std::shared_ptr<ServerState> state_;
  boost::asio::any_io_executor executor_;
  std::unique_ptr<Wire> wire_;
  std::string client_;
  bool is_loopback_;
  HttpLimits limits_;
  Inbox inbox_;
  Outbox outbox_;
  Watch watch_;  // of the handshake and of the end
  std::optional<RequestReader> reader_;
  ApiError refusal_;
  HttpExchange* exchange_ = nullptr;  // the one that runs
  Phase phase_ = Phase::handshake;
  Clock::time_point since_ = Clock::now();  // the phase began
  bool is_closed_ = false;
  size_t num_requests_ = 0;
  size_t num_body_bytes_ = 0;  // counted in state_
};

}  // namespace gainz::host
