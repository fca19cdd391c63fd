#include "server/http/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

#include "server/http/gate.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kSlowGrace(1);  // an unfinished header or body keeps its place this long when places are scarce
constexpr size_t kDrainBytes = 64 * 1024;      // a body up to this is read although its request is refused

ApiError timed_out(std::string_view what, std::chrono::milliseconds limit) {
  return {408, fmt::format("the {} did not come within {} ms", what, limit.count()), "invalid_request_error", "timeout", "",
          {}};
}

}  // namespace

// The exchange that runs, for as long as it does, whatever is thrown.
struct Connection::Running {
  Running(Connection& owner, HttpExchange& exchange) : connection(owner) {
    connection.exchange_ = &exchange;
    ++connection.state_->num_exchanges;
  }
  ~Running() {
    --connection.state_->num_exchanges;
    connection.exchange_ = nullptr;
    connection.state_->num_body_bytes -= std::exchange(connection.num_body_bytes_, 0);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  Connection& connection;
};

Connection::Connection(std::shared_ptr<ServerState> state, const asio::any_io_executor& executor, std::unique_ptr<Wire> wire,
                       std::string client, bool is_loopback)
    : state_(std::move(state)),
      executor_(executor),
      wire_(std::move(wire)),
      client_(std::move(client)),
      is_loopback_(is_loopback),
      limits_(state_->limits),
      inbox_(*wire_, executor, limits_.header_bytes + limits_.uri_bytes, [this] { on_input_end(); }),
      outbox_(*wire_, executor, limits_),
      watch_(executor, [this] { close(); }) {
  state_->connections.insert(this);
}

Connection::~Connection() {
  state_->connections.erase(this);
  state_->num_body_bytes -= num_body_bytes_;
}

void Connection::start() {
  asio::co_spawn(executor_, serve(), [self = shared_from_this()](std::exception_ptr failure) {
    self->close();
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      self->state_->report(fmt::format("the connection of {} failed: {}", self->client_, error.what()));
    }
  });
}

void Connection::close() {
  is_closed_ = true;
  wire_->close();
  inbox_.stop();
}

void Connection::close_if_idle() {
  if (phase_ == Phase::idle || phase_ == Phase::closing) close();
}

void Connection::end(const ApiError& reason) {
  if (exchange_) {
    exchange_->end(reason);
  } else {
    close();
  }
}

int Connection::spare() const {
  if (is_closed_) return 0;
  const bool is_fresh = phase_ == Phase::idle && num_requests_ == 0;
  if ((phase_ == Phase::idle && !is_fresh) || phase_ == Phase::closing) return 2;
  const bool is_unproven = is_fresh || phase_ == Phase::handshake || phase_ == Phase::header || phase_ == Phase::body;
  const auto grace = kSlowGrace + std::chrono::milliseconds(num_body_bytes_ * 1000 / limits_.body_rate);
  return is_unproven && Clock::now() - since_ > grace ? 1 : 0;
}

void Connection::set_phase(Phase phase) {
  phase_ = phase;
  since_ = Clock::now();
}

void Connection::on_input_end() {
  if (!exchange_) return;
  exchange_->gone();
  if (exchange_->is_streaming()) close();  // a write that waits for room ends
}

asio::awaitable<void> Connection::serve() {
  const bool is_open = co_await shake_hands();
  if (!is_open) co_return;
  asio::co_spawn(executor_, inbox_.run(), [self = shared_from_this()](std::exception_ptr failure) {
    if (failure) self->close();
  });
  for (bool goes_on = true; goes_on;) {
    const bool served = co_await serve_one();
    goes_on = served;
    // The next request may be here already: the others' turn first.
    if (goes_on && !inbox_.bytes().empty()) co_await asio::post(executor_, asio::use_awaitable);
  }
  co_await finish();
}

asio::awaitable<bool> Connection::shake_hands() {
  watch_.arm(limits_.tls_handshake);
  const boost::system::error_code error = co_await wire_->handshake();
  watch_.disarm();
  if (error) state_->report(fmt::format("the TLS handshake with {} failed: {}", client_, error.message()));
  co_return !error;
}

asio::awaitable<bool> Connection::serve_one() {
  limits_ = state_->limits;
  outbox_.set_limits(limits_);
  reader_.emplace(limits_);
  set_phase(Phase::idle);
  const Read head = co_await read_head();
  if (head == Read::ended) co_return false;
  ++num_requests_;
  reader_->request().client = client_;
  const std::shared_ptr<const Access> access = state_->access;
  const Verdict verdict = judge(state_->router, *access, reader_->request(), is_loopback_);
  HttpExchange exchange(*state_, outbox_, access, std::exchange(reader_->request(), {}), reader_->framing());
  exchange.set_match(verdict.match);
  exchange.set_key(verdict.key);
  bool goes_on = false;
  if (head == Read::refused) {
    co_await refuse(exchange, refusal_);
  } else {
    goes_on = co_await answer(exchange, verdict);
  }
  co_return goes_on;
}

// Takes what is there; a step of the reader's.
RequestReader::Step Connection::read_some() {
  size_t taken = 0;
  const RequestReader::Step step = reader_->read(inbox_.bytes(), taken);
  inbox_.take(taken);
  if (step == RequestReader::Step::failed) refusal_ = reader_->error();
  return step;
}

asio::awaitable<Connection::Read> Connection::read_head() {
  const auto idle_time = num_requests_ == 0 ? limits_.header_time : limits_.idle_time;
  for (;;) {
    const RequestReader::Step step = read_some();
    if (step == RequestReader::Step::failed) co_return Read::refused;
    if (step != RequestReader::Step::need_more) co_return Read::ok;
    if (reader_->has_begun() && phase_ == Phase::idle) set_phase(Phase::header);
    if (inbox_.has_ended() && phase_ == Phase::header) {
      refusal_ = bad_request("", "the request's header ended early");
      co_return Read::refused;
    }
    if (inbox_.has_ended()) co_return Read::ended;
    if (state_->is_stopping && phase_ == Phase::idle) co_return Read::ended;
    const bool in_header = phase_ == Phase::header;
    const auto deadline = since_ + (in_header ? limits_.header_time : idle_time);
    const bool has_news = co_await inbox_.wait(deadline);
    if (has_news) continue;
    if (!in_header) co_return Read::ended;
    refusal_ = timed_out("request's header", limits_.header_time);
    co_return Read::refused;
  }
}

asio::awaitable<Connection::Read> Connection::read_body() {
  set_phase(Phase::body);
  Clock::time_point last_news = since_;
  for (;;) {
    const RequestReader::Step step = read_some();
    const size_t num_bytes = reader_->request().body.size();
    if (num_bytes > num_body_bytes_) last_news = Clock::now();
    state_->num_body_bytes += num_bytes - num_body_bytes_;
    num_body_bytes_ = num_bytes;
    if (step == RequestReader::Step::done) co_return Read::ok;
    if (step == RequestReader::Step::failed) co_return Read::refused;
    if (state_->num_body_bytes > limits_.all_body_bytes) {
      refusal_ = {503, "the server holds too many large requests", "server_error", "busy", "", std::chrono::milliseconds(1000)};
      co_return Read::refused;
    }
    if (inbox_.has_ended()) {
      refusal_ = bad_request("", fmt::format("the request's body ended early, after {} bytes", num_bytes));
      co_return Read::refused;
    }
    const auto time = limits_.body_time + std::chrono::milliseconds(num_bytes * 1000 / limits_.body_rate);
    // Who sent much at once may not rest on it: what came is held in memory.
    const auto deadline = std::min(since_ + time, last_news + limits_.body_time);
    const bool has_news = co_await inbox_.wait(deadline);
    if (has_news) continue;
    refusal_ = timed_out("request's body", std::chrono::duration_cast<std::chrono::milliseconds>(deadline - since_));
    co_return Read::refused;
  }
}

// Whether the refusal goes out before the body is read. A small body is read first, so that the connection can go on.
bool Connection::must_refuse_unread(const Verdict& verdict) const {
  const RequestFraming& framing = reader_->framing();
  return verdict.refusal && framing.has_body() &&
         (framing.expects_continue || framing.is_chunked || *framing.content_length > kDrainBytes);
}

asio::awaitable<bool> Connection::answer(HttpExchange& exchange, const Verdict& verdict) {
  const RequestFraming& framing = reader_->framing();
  if (must_refuse_unread(verdict)) {
    co_await refuse(exchange, *verdict.refusal);
    co_return false;
  }
  if (framing.has_body()) {
    if (framing.expects_continue && inbox_.bytes().empty()) co_await outbox_.write("HTTP/1.1 100 Continue\r\n\r\n");
    const Read body = co_await read_body();
    if (body != Read::ok) {
      co_await refuse(exchange, refusal_);
      co_return false;
    }
    exchange.set_body(std::move(reader_->request().body));
  }
  set_phase(Phase::exchange);
  const Running running(*this, exchange);
  if (inbox_.has_ended()) exchange.gone();
  if (state_->ending) exchange.end(*state_->ending);
  if (verdict.refusal) {
    co_await exchange.fail(*verdict.refusal);
  } else if (verdict.is_options) {
    HttpResponse response = options_response(*state_->access, exchange.request(), verdict.match);
    co_await exchange.send(std::move(response));
  } else {
    co_await exchange.run(*verdict.match.route);
  }
  report(exchange);
  co_return exchange.keeps_alive();
}

asio::awaitable<void> Connection::refuse(HttpExchange& exchange, const ApiError& error) {
  state_->num_body_bytes -= std::exchange(num_body_bytes_, 0);
  reader_.reset();  // with what there is of the body
  exchange.close_after();
  co_await exchange.fail(error);
  report(exchange);
}

void Connection::report(const HttpExchange& exchange) const {
  if (state_->hooks.on_exchange) state_->hooks.on_exchange(exchange.record());
}

// A socket that is closed while bytes wait to be read tells its peer so by a reset, which may overtake the answer. So what
// still comes is read and dropped, for a while.
asio::awaitable<void> Connection::finish() {
  set_phase(Phase::closing);
  if (inbox_.has_ended() || outbox_.is_broken()) co_return;
  watch_.arm(limits_.linger_time);
  co_await wire_->end_writing();
  while (!inbox_.has_ended()) {
    inbox_.take(inbox_.bytes().size());
    co_await inbox_.wait(Clock::time_point::max());
  }
  watch_.disarm();
}

}  // namespace gainz::host
