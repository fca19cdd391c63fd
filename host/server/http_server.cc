#include "server/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "server/http/connection.h"
#include "server/http/listeners.h"
#include "server/http/server_state.h"
#include "server/http/tls.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr std::chrono::milliseconds kAcceptPause(100);  // after a failure such as too many open files
constexpr std::chrono::milliseconds kDrainStep(5);
constexpr int kKeepIdleSeconds = 60, kKeepIntervalSeconds = 15, kKeepProbes = 4;  // TCP keep-alive: dead peers are found

constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nserver: gainz\r\ncontent-type: application/json\r\nretry-after: 1\r\n"
    "connection: close\r\ncontent-length: 115\r\n\r\n"
    R"({"error":{"message":"the server has too many connections","type":"server_error","param":null,"code":"server_busy"}})";

using KeepIdle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
using KeepInterval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
using KeepProbes = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;

void set_options(tcp::socket& socket, const HttpLimits& limits) {
  boost::system::error_code ignored;  // a peer that is gone already is found by the first read
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::send_buffer_size(static_cast<int>(limits.send_buffer_bytes / 2)),
                    ignored);  // Linux doubles it
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(KeepIdle(kKeepIdleSeconds), ignored);
  socket.set_option(KeepInterval(kKeepIntervalSeconds), ignored);
  socket.set_option(KeepProbes(kKeepProbes), ignored);
}

struct Listener {
  tcp::acceptor acceptor;
  bool is_tls;
  bool is_accepting = false;
};

// Held across what closing does to the set.
std::vector<std::shared_ptr<Connection>> all_of(const ServerState& state) {
  std::vector<std::shared_ptr<Connection>> out;
  for (Connection* connection : state.connections) {
    if (auto held = connection->weak_from_this().lock()) out.push_back(std::move(held));
  }
  return out;
}

// Makes room for one more; false: every connection is at work.
bool evict_one(const ServerState& state) {
  Connection* best = nullptr;
  for (Connection* connection : state.connections) {
    const int spare = connection->spare();
    if (spare == 0) continue;
    const bool is_better = !best || spare > best->spare() || (spare == best->spare() && connection->since() < best->since());
    if (is_better) best = connection;
  }
  if (best) best->close();
  return best != nullptr;
}

}  // namespace

struct HttpServer::Core : std::enable_shared_from_this<HttpServer::Core> {
  Core(asio::io_context& io_context, std::shared_ptr<ServerState> shared) : io(io_context), state(std::move(shared)) {}

  void welcome(tcp::socket socket, bool is_tls);
  asio::awaitable<void> accept(std::shared_ptr<Listener> listener);

  asio::io_context& io;
  std::shared_ptr<ServerState> state;
  std::vector<std::shared_ptr<Listener>> listeners;
};

void HttpServer::Core::welcome(tcp::socket socket, bool is_tls) {
  boost::system::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return;
  const bool is_loopback = socket.local_endpoint(error).address().is_loopback();
  set_options(socket, state->limits);
  if (state->connections.size() >= state->limits.num_connections && !evict_one(*state)) {
    state->report(fmt::format("{} connections are at work; one of {} was refused", state->connections.size(),
                              peer.address().to_string()));
    socket.non_blocking(true, error);
    if (!is_tls) socket.write_some(asio::buffer(kFull), error);
    return;
  }
  auto wire = is_tls ? make_tls_wire(std::move(socket), state->tls) : make_plain_wire(std::move(socket));
  std::make_shared<Connection>(state, io.get_executor(), std::move(wire), peer.address().to_string(), is_loopback)->start();
}

asio::awaitable<void> HttpServer::Core::accept(std::shared_ptr<Listener> listener) {
  asio::steady_timer pause(io);
  while (listener->acceptor.is_open() && !state->is_stopping) {
    auto [error, socket] = co_await listener->acceptor.async_accept(kAwait);
    if (error == asio::error::operation_aborted) co_return;
    if (error == asio::error::connection_aborted) continue;
    std::string problem = error ? error.message() : "";
    if (!error) {
      try {
        welcome(std::move(socket), listener->is_tls);
        continue;
      } catch (const std::exception& thrown) {  // no memory for one more
        problem = thrown.what();
      }
    }
    state->report(fmt::format("a connection could not be accepted: {}; waiting {} ms", problem, kAcceptPause.count()));
    evict_one(*state);
    pause.expires_after(kAcceptPause);
    co_await pause.async_wait(kAwait);
  }
}

HttpServer::HttpServer(asio::io_context& io, ServerContext& context, Router router, HttpLimits limits, Access access,
                       HttpHooks hooks)
    : core_(std::make_shared<Core>(
          io, std::make_shared<ServerState>(ServerState{
                  context, std::move(router), limits, std::make_shared<const Access>(std::move(access)), std::move(hooks)}))) {}

HttpServer::~HttpServer() {
  stop_accepting();
  abort_all();
}

Outcome HttpServer::use_tls(const TlsFiles& files) {
  Result<std::shared_ptr<asio::ssl::context>> context = make_tls_context(files);
  if (!context.ok()) return context.failure();
  core_->state->tls = std::move(*context);
  return Done{};
}

Outcome HttpServer::listen(const std::string& host, uint16_t port) {
  Result<std::vector<tcp::acceptor>> bound = bind_listeners(core_->io, host, port);
  if (!bound.ok()) return bound.failure();
  for (tcp::acceptor& acceptor : *bound)
    core_->listeners.push_back(std::make_shared<Listener>(Listener{std::move(acceptor), core_->state->tls != nullptr}));
  return Done{};
}

void HttpServer::start_accepting() {
  for (const auto& listener : core_->listeners) {
    if (std::exchange(listener->is_accepting, true)) continue;
    // The core is held by the coroutine's own frame.
    asio::co_spawn(
        core_->io, [core = core_, listener]() -> asio::awaitable<void> { co_await core->accept(listener); }, asio::detached);
  }
}

std::vector<std::string> HttpServer::urls() const {
  std::vector<std::string> out;
  for (const auto& listener : core_->listeners) {
    boost::system::error_code error;
    const tcp::endpoint endpoint = listener->acceptor.local_endpoint(error);
    if (!error) out.push_back(url_of(endpoint, listener->is_tls));
  }
  return out;
}

uint16_t HttpServer::port() const {
  boost::system::error_code error;
  return core_->listeners.empty() ? 0 : core_->listeners.front()->acceptor.local_endpoint(error).port();
}

void HttpServer::set_limits(const HttpLimits& limits) { core_->state->limits = limits; }
void HttpServer::set_access(Access access) { core_->state->access = std::make_shared<const Access>(std::move(access)); }

void HttpServer::stop_accepting() {
  core_->state->is_stopping = true;
  boost::system::error_code ignored;
  for (const auto& listener : core_->listeners) listener->acceptor.close(ignored);
  for (const auto& connection : all_of(*core_->state)) connection->close_if_idle();
}

void HttpServer::end_all(const ApiError& reason) {
  core_->state->ending = reason;
  for (const auto& connection : all_of(*core_->state)) connection->end(reason);
}

void HttpServer::abort_all() {
  for (const auto& connection : all_of(*core_->state)) connection->close();
}

asio::awaitable<bool> HttpServer::drained(Clock::time_point deadline) {
  asio::steady_timer step(core_->io);
  while (num_connections() > 0 && Clock::now() < deadline) {
    step.expires_after(kDrainStep);
    co_await step.async_wait(kAwait);
  }
  co_return num_connections() == 0;
}

size_t HttpServer::num_connections() const { return core_->state->connections.size(); }
size_t HttpServer::num_exchanges() const { return core_->state->num_exchanges; }

}  // namespace gainz::host
