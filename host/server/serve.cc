#include "server/serve.h"

#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/text.h"
#include "server/core/server_core.h"
#include "server/core/server_settings.h"
#include "server/http_server.h"
#include "session/runtime_config.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kLastWords(2);  // for the error events after the grace
constexpr std::chrono::seconds kAborted(5);    // for handlers to return once their sockets are closed
constexpr std::chrono::seconds kTick(1);

ApiError shutting_down() {
  return {503, "The server is shutting down", "server_error", "shutting_down", "", std::chrono::milliseconds(1000)};
}

class Serving {
 public:
  Serving(const ServeRequest& request, LogSink& log, gainz_runtime* runtime, Settings settings,
          std::vector<ModelSource> sources, Access access)
      : request_(request),
        log_(log),
        core_(io_, runtime, std::move(settings), std::move(sources), log),
        http_(io_, core_, make_router(), http_limits_of(core_.settings()), std::move(access), hooks()),
        signals_(io_, SIGINT, SIGTERM, SIGHUP),
        tick_(io_) {
    core_.set_num_connections([this] { return http_.num_connections(); });
  }

  Outcome listen();
  Outcome run();

 private:
  HttpHooks hooks() {
    HttpHooks out;
    out.on_exchange = [this](const ExchangeRecord& record) { core_.log_exchange(record); };
    out.on_problem = [this](const std::string& sentence) { core_.log(GAINZ_LOG_LEVEL_WARNING, sentence); };
    return out;
  }
  asio::awaitable<void> start();
  asio::awaitable<void> start_one(std::string id);
  asio::awaitable<void> watch_signals();
  asio::awaitable<void> drain();
  asio::awaitable<void> end_now();
  asio::awaitable<void> keep_house();
  void reload();
  Outcome reload_parts();
  void announce();
  void fail(const Failure& failure);

  const ServeRequest& request_;
  LogSink& log_;
  asio::io_context io_{1};
  ServerCore core_;
  HttpServer http_;
  asio::signal_set signals_;
  asio::steady_timer tick_;
  size_t num_stops_ = 0;
  size_t num_starting_ = 0;
  std::optional<Failure> failure_;
  bool is_over_ = false;
};

Outcome Serving::listen() {
  const Settings& settings = core_.settings();
  const Result<std::optional<TlsFiles>> tls = tls_files_of(settings);
  if (!tls.ok()) return tls.failure();
  if (*tls) {
    if (Outcome used = http_.use_tls(**tls); !used.ok()) return used;
  }
  return http_.listen(settings.text(key("server.host")), static_cast<uint16_t>(settings.integer(key("server.port"))));
}

Outcome Serving::run() {
  http_.start_accepting();
  asio::co_spawn(io_, watch_signals(), asio::detached);
  asio::co_spawn(io_, keep_house(), asio::detached);
  asio::co_spawn(io_, start(), asio::detached);
  for (;;) {
    try {
      io_.run();
      break;
    } catch (const std::exception& error) {  // of a callback, not of a request: those are caught where they run
      core_.log(GAINZ_LOG_LEVEL_ERROR, fmt::format("internal error: {}", error.what()));
    }
  }
  if (failure_) return *failure_;
  return Done{};
}

// Loads what is to be there from the start, as far as the memory allows; one model that fails is told and the others serve.
asio::awaitable<void> Serving::start() {
  std::vector<std::string> ids;
  for (const ModelState& state : core_.models()) ids.push_back(state.id);
  const bool loads_at_start = core_.settings().text(key("server.load")) == "start";
  for (const std::string& id : ids) {
    if (loads_at_start) co_await start_one(id);
    if (num_stops_ > 0) co_return;
  }
  size_t num_failed = 0;
  std::string reason;
  for (const ModelState& state : core_.models()) {
    if (state.state != "failed") continue;
    ++num_failed;
    reason = state.reason;
  }
  if (num_failed == ids.size() && num_failed > 0) {
    fail(Failure{reason});
    co_return;
  }
  announce();
}

asio::awaitable<void> Serving::start_one(std::string id) {
  try {
    co_await core_.load_model(id);
  } catch (const ApiError& error) {
    core_.log(GAINZ_LOG_LEVEL_WARNING, fmt::format("{} is not loaded at the start: {}", id, error.message));
  }
}

void Serving::announce() {
  const std::vector<std::string> urls = http_.urls();
  std::string names;
  for (const ModelState& state : core_.models()) names += (names.empty() ? "" : ", ") + state.id;
  write_output(fmt::format("gainz serves {} at {}\n", printable(names), fmt::join(urls, " and ")));
  if (Outcome flushed = flush_output(); !flushed.ok()) core_.log(GAINZ_LOG_LEVEL_WARNING, flushed.failure().sentence);
}

void Serving::fail(const Failure& failure) {
  failure_ = failure;
  asio::co_spawn(io_, end_now(), asio::detached);
}

asio::awaitable<void> Serving::watch_signals() {
  while (!is_over_) {
    const auto [error, number] = co_await signals_.async_wait(kAwait);
    if (error) co_return;
    if (number == SIGHUP) {
      reload();
      continue;
    }
    ++num_stops_;
    core_.log(GAINZ_LOG_LEVEL_INFO, fmt::format("{}: {}", number == SIGINT ? "SIGINT" : "SIGTERM",
                                                num_stops_ == 1 ? "finishing what runs" : "ending now"));
    if (num_stops_ == 1) {
      asio::co_spawn(io_, drain(), asio::detached);
    } else {
      asio::co_spawn(io_, end_now(), asio::detached);
    }
  }
}

asio::awaitable<void> Serving::drain() {
  core_.begin_draining();
  http_.stop_accepting();
  const auto grace = std::chrono::seconds(core_.settings().integer(key("server.grace_seconds")));
  const bool is_drained = co_await http_.drained(Clock::now() + grace);
  if (num_stops_ > 1) co_return;  // end_now() is at work
  if (!is_drained)
    core_.log(GAINZ_LOG_LEVEL_WARNING,
              fmt::format("{} requests did not end within the grace of {} s", http_.num_exchanges(), grace.count()));
  co_await end_now();
}

asio::awaitable<void> Serving::end_now() {
  if (is_over_) co_return;
  is_over_ = true;
  core_.begin_draining();
  http_.stop_accepting();
  http_.end_all(shutting_down());
  co_await http_.drained(Clock::now() + kLastWords);
  http_.abort_all();
  co_await http_.drained(Clock::now() + kAborted);
  io_.stop();
}

asio::awaitable<void> Serving::keep_house() {
  while (!is_over_) {
    tick_.expires_after(kTick);
    co_await tick_.async_wait(kAwait);
    core_.unload_idle();
  }
}

void Serving::reload() {
  const Outcome outcome = reload_parts();
  if (!outcome.ok())
    core_.log(GAINZ_LOG_LEVEL_ERROR, fmt::format("SIGHUP: nothing was changed: {}", outcome.failure().sentence));
}

// All that can fail comes first.
Outcome Serving::reload_parts() {
  Result<Settings> read = request_.read_settings();
  if (!read.ok()) return read.failure();
  std::vector<std::string> told;
  Settings settings = keep_fixed(core_.settings(), *std::move(read), told);
  Result<std::vector<ModelSource>> sources = model_sources(settings, request_.environment, request_.model, request_.name);
  if (!sources.ok()) return sources.failure();
  Result<Access> access = access_of(settings);
  if (!access.ok()) return access.failure();
  if (Outcome exposed = check_exposure(settings); !exposed.ok()) return exposed;
  const Result<std::optional<TlsFiles>> tls = tls_files_of(settings);
  if (!tls.ok()) return tls.failure();
  const Result<std::optional<TlsFiles>> had_tls = tls_files_of(core_.settings());
  if (had_tls.ok() && had_tls->has_value() != tls->has_value())
    return Failure{"TLS can be turned on or off by a restart alone"};
  if (*tls) {
    if (Outcome used = http_.use_tls(**tls); !used.ok()) return used;
  }
  if (Outcome opened = log_.reopen(settings); !opened.ok()) return opened;
  http_.set_limits(http_limits_of(settings));
  http_.set_access(*std::move(access));
  for (std::string& sentence : core_.replace(std::move(settings), *std::move(sources))) told.push_back(std::move(sentence));
  for (const std::string& sentence : told) core_.log(GAINZ_LOG_LEVEL_WARNING, "SIGHUP: " + sentence);
  core_.log(GAINZ_LOG_LEVEL_INFO, "SIGHUP: the settings were read again");
  return Done{};
}

}  // namespace

Outcome serve(const ServeRequest& request) {
  Result<Settings> settings = request.read_settings();
  if (!settings.ok()) return settings.failure();
  for (const std::string& warning : settings->warnings) say(warning);
  Result<std::vector<ModelSource>> sources = model_sources(*settings, request.environment, request.model, request.name);
  if (!sources.ok()) return sources.failure();
  if (Outcome exposed = check_exposure(*settings); !exposed.ok()) return exposed;
  Result<Access> access = access_of(*settings);
  if (!access.ok()) return access.failure();
  Result<std::unique_ptr<LogSink>> log = LogSink::open(*settings, LogSink::Mode::background);
  if (!log.ok()) return log.failure();
  signal(SIGPIPE, SIG_IGN);  // a client that left is an error of its socket
  Result<gainz_runtime*> runtime = make_runtime(*settings, **log);
  if (!runtime.ok()) return runtime.failure();
  Serving serving(request, **log, *runtime, *std::move(settings), *std::move(sources), *std::move(access));
  if (Outcome listening = serving.listen(); !listening.ok()) return listening;
  return serving.run();
}

}  // namespace gainz::host
