#include "host/server/http/wire_server.h"

#include <gtest/gtest.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <charconv>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace gainz::test {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using host::ApiError;
using host::Exchange;
using host::ServerContext;

class FakeContext final : public ServerContext {
 public:
  FakeContext(asio::io_context& io_context, WireServer& owner) : io(io_context), server(owner) {}
  gainz_runtime* runtime() override { return nullptr; }
  const host::Settings& settings() const override { throw std::logic_error("no settings here"); }
  host::Generations& generations() override { throw std::logic_error("no generations here"); }
  awaitable<std::shared_ptr<host::ServedModel>> model(std::string) override { co_return nullptr; }
  std::vector<host::ModelState> models() const override { return {}; }
  awaitable<void> load_model(std::string) override { co_return; }
  awaitable<void> unload_model(std::string) override { co_return; }
  void keep_alive(const std::string&, std::chrono::seconds) override {}
  awaitable<void> off_thread(std::function<void()>) override { co_return; }
  std::string metrics_text() override { return ""; }
  bool is_draining() const override { return false; }
  double uptime_seconds() const override { return 0; }

  asio::io_context& io;
  WireServer& server;
};

std::vector<int> numbers(std::string_view text) {
  std::vector<int> out;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int number = 0;
    at = std::from_chars(at, end, number).ptr + 1;
    out.push_back(number);
  }
  return out;
}

// Counts a handler, and wakes its timer when the exchange ends.
struct Handled {
  Handled(ServerContext& context, Exchange& exchange)
      : server(static_cast<FakeContext&>(context).server),
        timer(std::make_shared<asio::steady_timer>(static_cast<FakeContext&>(context).io)) {
    ++server.num_begun;
    exchange.on_gone([timer = timer, &server = server] {
      ++server.num_gone;
      timer->cancel();
    });
  }
  ~Handled() { ++server.num_ended; }
  awaitable<bool> sleep(int ms) {
    timer->expires_after(std::chrono::milliseconds(ms));
    const auto [error] = co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
    co_return !error;
  }
  WireServer& server;
  std::shared_ptr<asio::steady_timer> timer;
};

// See the rules in server/route.h.
host::HttpResponse answer_of(std::string body) {
  host::HttpResponse out;
  out.body = std::move(body);
  return out;
}

awaitable<void> health(ServerContext&, Exchange& exchange) {
  host::HttpResponse answer = answer_of(R"({"status":"ok"})");
  co_await exchange.send(std::move(answer));
}

awaitable<void> echo(ServerContext&, Exchange& exchange) {
  host::HttpResponse answer = answer_of(exchange.request().body);
  answer.content_type = "text/plain";
  answer.headers.emplace_back("x-test-key", exchange.key());
  answer.headers.emplace_back("x-test-client", exchange.request().client);
  co_await exchange.send(std::move(answer));
}

awaitable<void> wait(ServerContext& context, Exchange& exchange) {
  Handled handled(context, exchange);
  const int ms = numbers(exchange.request().query).at(0);
  const bool slept = co_await handled.sleep(ms);
  if (!slept) throw ApiError{503, "the wait was cut short", "server_error", "cancelled", "", {}};
  host::HttpResponse answer = answer_of(R"({"waited":true})");
  co_await exchange.send(std::move(answer));
}

awaitable<void> stream(ServerContext& context, Exchange& exchange) {
  const std::vector<int> n = numbers(exchange.request().query);
  Handled handled(context, exchange);
  co_await exchange.begin_stream("text/event-stream");
  const std::string event = "data: " + std::string(static_cast<size_t>(n.at(1)), 'x') + "\n\n";
  for (int i = 0; i < n.at(0); ++i) {
    if (n.at(2) > 0) {
      const bool slept = co_await handled.sleep(n.at(2));
      if (!slept) co_return;
    }
    const bool written = co_await exchange.write(event);
    if (!written) co_return;
  }
  co_await exchange.end_stream();
}

awaitable<void> fail(ServerContext&, Exchange& exchange) {
  const std::string& kind = exchange.request().query;
  if (kind.ends_with("_in_stream")) {
    co_await exchange.begin_stream("text/event-stream");
    co_await exchange.write("data: {}\n\n");
  }
  if (kind.starts_with("api"))
    throw ApiError{429, "too many \xC3\xA4 \xFF", "rate_limit_error", "slow_down", "n", std::chrono::milliseconds(1500)};
  if (kind.starts_with("secret")) throw std::runtime_error("secret text of the inside");
  if (kind == "number") throw 7;
  if (kind == "twice") {
    host::HttpResponse first = answer_of("1"), second = answer_of("2");
    co_await exchange.send(std::move(first));
    co_await exchange.send(std::move(second));
  }
  if (kind == "fields") {
    host::HttpResponse answer = answer_of("{}");
    answer.headers.emplace_back("x-bad", "a\r\nset-cookie: b");
    co_await exchange.send(std::move(answer));
  }
}

awaitable<void> fail_ollama(ServerContext&, Exchange& exchange) {
  if (exchange.request().body == "stream") {
    co_await exchange.begin_stream("application/x-ndjson");
    co_await exchange.write("{\"n\":1}\n");
  }
  throw ApiError{404, "model \"x\" not found", "invalid_request_error", "", "", {}};
}

awaitable<void> show_path(ServerContext&, Exchange& exchange) {
  host::HttpResponse answer = answer_of(exchange.request().path);
  co_await exchange.send(std::move(answer));
}

constexpr host::Route kRoutes[] = {
    {"GET", "/health", health, host::ErrorForm::openai, false},
    {"POST", "/echo", echo},
    {"GET", "/wait", wait},
    {"GET", "/stream", stream},
    {"GET", "/fail", fail},
    {"POST", "/api/fail", fail_ollama, host::ErrorForm::ollama},
    {"GET", "/models/{}", show_path},
    {"GET", "/files/{*}", show_path},
};

}  // namespace

struct WireServer::State {
  explicit State(WireServer& owner) : context(io, owner), guard(io.get_executor()) {}

  asio::io_context io{1};
  FakeContext context;
  std::mutex mutex;
  std::vector<host::ExchangeRecord> records;
  std::vector<std::string> problems;
  asio::executor_work_guard<asio::io_context::executor_type> guard;
  std::unique_ptr<host::HttpServer> server;
  std::thread thread;
};

WireServer::WireServer(WireServerOptions options) : state_(std::make_unique<State>(*this)) {
  State& state = *state_;
  host::HttpHooks hooks;
  hooks.on_exchange = [&state](const host::ExchangeRecord& record) {
    const std::lock_guard lock(state.mutex);
    state.records.push_back(record);
  };
  hooks.on_problem = [&state](const std::string& sentence) {
    const std::lock_guard lock(state.mutex);
    state.problems.push_back(sentence);
  };
  state.server = std::make_unique<host::HttpServer>(state.io, state.context, host::Router({kRoutes}), options.limits,
                                                    host::Access(options.keys, options.origins), hooks);
  if (!options.tls.certificate.empty()) {
    const host::Outcome outcome = state.server->use_tls(options.tls);
    EXPECT_TRUE(outcome.ok()) << outcome.failure().sentence;
  }
  const host::Outcome outcome = state.server->listen(options.host, 0);
  EXPECT_TRUE(outcome.ok()) << outcome.failure().sentence;
  port_ = state.server->port();
  state.server->start_accepting();
  state.thread = std::thread([&state] { state.io.run(); });
}

WireServer::~WireServer() {
  run([](host::HttpServer& server) {
    server.stop_accepting();
    server.abort_all();
  });
  EXPECT_TRUE(drained(std::chrono::seconds(5))) << "connections are left at the end";
  EXPECT_EQ(num_begun, num_ended);
  state_->guard.reset();
  state_->io.stop();
  state_->thread.join();
}

void WireServer::run(const std::function<void(host::HttpServer&)>& work) {
  std::promise<void> done;
  asio::post(state_->io, [&] {
    work(*state_->server);
    done.set_value();
  });
  done.get_future().wait();
}

bool WireServer::drained(std::chrono::milliseconds limit) {
  return asio::co_spawn(state_->io, state_->server->drained(std::chrono::steady_clock::now() + limit), asio::use_future).get();
}

std::vector<host::ExchangeRecord> WireServer::records(size_t count) {
  eventually([&] {
    const std::lock_guard lock(state_->mutex);
    return state_->records.size() >= count;
  });
  const std::lock_guard lock(state_->mutex);
  return state_->records;
}

std::vector<std::string> WireServer::problems() {
  const std::lock_guard lock(state_->mutex);
  return state_->problems;
}

size_t WireServer::num_connections() {
  size_t out = 0;
  run([&](host::HttpServer& server) { out = server.num_connections(); });
  return out;
}

bool WireServer::eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace gainz::test
