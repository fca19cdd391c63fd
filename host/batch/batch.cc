#include "batch/batch.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "batch/batch_exchange.h"
#include "batch/journal.h"
#include "batch/task_file.h"
#include "server/core/server_core.h"
#include "server/error_text.h"
#include "server/router.h"
#include "session/runtime_config.h"
#include "terminal/interrupt.h"
#include "terminal/progress_bar.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kLook(100);        // how soon a Ctrl-C is seen
constexpr std::chrono::milliseconds kFirstPause(250);  // before a retry; doubled with each
constexpr uint32_t kMaxDoublings = 6;
constexpr size_t kSparePerSequence = 2;  // tasks at work for each sequence that runs, so that none is ever free

bool may_pass(int status) { return status == 0 || status == 408 || status == 429 || status >= 500; }

class Batch {
 public:
  Batch(const BatchRequest& request, TaskFile& input, Journal& output, Journal& failures, LogSink& log, gainz_runtime* runtime,
        std::vector<ModelSource> sources)
      : request_(request),
        input_(input),
        output_(output),
        failures_(failures),
        core_(io_, runtime, request.settings, std::move(sources), log),
        router_(make_router()),
        look_(io_),
        num_before_(output.size() + failures.size()),
        num_total_(input.num_tasks()) {}

  Outcome run();

 private:
  asio::awaitable<void> prepare();
  asio::awaitable<void> work();
  asio::awaitable<void> watch();
  asio::awaitable<TaskAnswer> attempt(const Task& task);
  asio::awaitable<void> handle(const Route& route, BatchExchange& exchange, ErrorForm form);
  asio::awaitable<void> do_task(Task task);
  std::optional<Task> next_task();
  void keep(Outcome outcome) {
    if (!outcome.ok() && !broken_) broken_ = outcome.failure();
  }
  bool is_stopping() const { return broken_ || num_interrupts() > 0; }
  void show();

  const BatchRequest& request_;
  TaskFile& input_;
  Journal& output_;
  Journal& failures_;
  asio::io_context io_{1};
  ServerCore core_;
  Router router_;
  asio::steady_timer look_;
  ProgressBar bar_;
  std::set<BatchExchange*> running_;
  std::optional<Failure> broken_;
  const size_t num_before_, num_total_;
  size_t num_workers_ = 1;
  bool is_loading_ = true;
  uint64_t last_id_ = 0;
  Clock::time_point begin_ = Clock::now();
};

std::optional<Task> Batch::next_task() {
  while (!is_stopping()) {
    std::optional<TaskLine> line = input_.next();
    if (!line) return std::nullopt;
    if (const auto* bad = std::get_if<BadLine>(&*line)) {
      const std::string id = bad_line_id(bad->line);
      if (!failures_.holds(id)) keep(failures_.add(id, bad_line(bad->line, bad->sentence)));
      continue;
    }
    Task& task = std::get<Task>(*line);
    if (!output_.holds(task.id) && !failures_.holds(task.id)) return std::move(task);
  }
  return std::nullopt;
}

asio::awaitable<void> Batch::handle(const Route& route, BatchExchange& exchange, ErrorForm form) {
  ApiError error;
  try {
    co_await route.handler(core_, exchange);
    co_return;
  } catch (const ApiError& thrown) {
    error = thrown;
  } catch (const std::exception& thrown) {
    error.message = thrown.what();
  }
  exchange.answer().status = error.status;
  exchange.answer().body = error_body(form, error);
}

asio::awaitable<TaskAnswer> Batch::attempt(const Task& task) {
  BatchExchange exchange(task, fmt::format("task-{}-{}", task.line, ++last_id_));
  const RouteMatch match = router_.match("POST", task.url);
  if (match.route == nullptr) {
    exchange.answer().status = 404;
    exchange.answer().body =
        error_body(match.form, not_found(fmt::format("Unknown request URL: POST {}", printable(task.url)), "unknown_url"));
    co_return exchange.answer();
  }
  running_.insert(&exchange);
  bool is_late = false;
  const auto timer = std::make_shared<asio::steady_timer>(io_);
  if (request_.timeout_seconds > 0) {
    timer->expires_after(std::chrono::seconds(request_.timeout_seconds));
    timer->async_wait([&exchange, &is_late, timer](const boost::system::error_code& error) {
      if (error) return;
      is_late = true;
      exchange.cancel();
    });
  }
  co_await handle(*match.route, exchange, match.form);
  const bool can_fire = timer->cancel() == 0 && request_.timeout_seconds > 0 && !is_late;
  if (can_fire) {  // it has expired and its callback waits to run: let it, before what it points to is gone
    asio::steady_timer turn(io_, std::chrono::milliseconds(1));
    co_await turn.async_wait(kAwait);
  }
  running_.erase(&exchange);
  TaskAnswer answer = std::move(exchange.answer());
  if (is_late && answer.body.empty()) {
    answer.status = 504;
    answer.body = error_body(
        ErrorForm::openai,
        ApiError{
            504, fmt::format("the task took longer than {} s", request_.timeout_seconds), "server_error", "timeout", "", {}});
  }
  co_return answer;
}

asio::awaitable<void> Batch::do_task(Task task) {
  std::chrono::milliseconds pause = kFirstPause;
  for (uint32_t tries = 1;; ++tries) {
    TaskAnswer answer = co_await attempt(task);
    if (is_stopping()) co_return;  // cut short, or its file is broken: done again by the next run
    if (answer.status == 200) {
      keep(output_.add(task.id, answer_line(task, answer)));
      co_return;
    }
    if (!may_pass(answer.status) || tries > request_.num_retries) {
      keep(failures_.add(task.id, failure_line(task, answer, tries)));
      co_return;
    }
    asio::steady_timer timer(io_, pause);
    co_await timer.async_wait(kAwait);
    if (tries <= kMaxDoublings) pause *= 2;
  }
}

asio::awaitable<void> Batch::work() {
  try {
    for (std::optional<Task> task = next_task(); task; task = next_task()) co_await do_task(*std::move(task));
  } catch (const std::exception& error) {  // memory that runs out: the others stop too
    keep(Failure{fmt::format("a task could not be done: {}", error.what())});
  }
  --num_workers_;
}

void Batch::show() {
  if (is_loading_) {
    for (const ModelState& state : core_.models()) {
      if (state.state == "loading") bar_.show("loading " + state.id, state.progress);
    }
    return;
  }
  const size_t num_done = output_.size() + failures_.size();
  const size_t num_now = num_done - num_before_;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double rate = seconds > 0 ? static_cast<double>(num_now) / seconds : 0;
  std::string text = fmt::format("{} of {} tasks, {:.1f} a second", format_count(num_done), format_count(num_total_), rate);
  if (failures_.size() > 0) text += fmt::format(", {} failed", format_count(failures_.size()));
  if (rate > 0 && num_total_ > num_done)
    text += fmt::format(", {} left", format_seconds(static_cast<double>(num_total_ - num_done) / rate));
  bar_.show(text, num_total_ > 0 ? static_cast<double>(num_done) / static_cast<double>(num_total_) : 1);
}

// Shows how far it is, sees Ctrl-C, and ends the loop when the workers are through.
asio::awaitable<void> Batch::watch() {
  while (num_workers_ > 0) {
    look_.expires_after(kLook);
    co_await look_.async_wait(kAwait);
    show();
    if (!is_stopping()) continue;
    if (is_loading_) break;  // ended by the destructor of `core_`
    const std::set<BatchExchange*> running = running_;
    for (BatchExchange* exchange : running) exchange->cancel();
  }
  io_.stop();
}

// Loads the models first, so that a bad one is told at once and not by every task. Counts as a worker until the others are
// there.
asio::awaitable<void> Batch::prepare() {
  try {
    const std::vector<ModelState> models = core_.models();
    for (const ModelState& state : models) co_await core_.load_model(state.id);
  } catch (const ApiError& error) {
    broken_ = Failure{error.message};
  }
  is_loading_ = false;
  begin_ = Clock::now();
  const auto num_sequences = static_cast<size_t>(request_.settings.integer(key("max_sequences")));
  const size_t num_workers = kSparePerSequence * num_sequences * core_.models().size();
  num_workers_ += num_workers;  // counts down as they end, some before the next begins
  for (size_t i = 0; i < num_workers; ++i) asio::co_spawn(io_, work(), asio::detached);
  --num_workers_;
}

Outcome Batch::run() {
  asio::co_spawn(io_, watch(), asio::detached);
  asio::co_spawn(io_, prepare(), asio::detached);
  io_.run();
  bar_.clear();
  keep(output_.sync());
  keep(failures_.sync());
  if (broken_) return *broken_;
  if (num_interrupts() > 0)
    return Failure{
        fmt::format("stopped after {} of {} tasks; the same command goes on", output_.size() + failures_.size(), num_total_)};
  return Done{};
}

// Also by another name, there or not yet.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  return std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error);
}

}  // namespace

Outcome run_batch(const BatchRequest& request) {
  const std::string failures_path = request.failures.empty() ? request.output + ".failures" : request.failures;
  if (is_same_file(failures_path, request.output)) return Failure{"the output and the failures need two files", kExitUsage};
  for (const std::string& path : {request.output, failures_path}) {
    if (is_same_file(path, request.input))
      return Failure{fmt::format("{}: is the input; answers and failures need files of their own", printable(path)),
                     kExitUsage};
  }
  BatchRequest adapted = request;
  const auto set = [&](size_t index, Value value) {
    adapted.settings.set(index, {std::move(value), Source::flag, "gainz batch"});
  };
  set(key("log.access"), false);
  set(key("server.key_requests_per_minute"), int64_t{0});
  set(key("server.key_concurrency"), int64_t{0});
  set(key("server.request_seconds"), static_cast<int64_t>(kMaxSeconds));
  set(key("server.max_queue"), int64_t{1} << 20);
  Result<std::unique_ptr<TaskFile>> input =
      TaskFile::open(request.input, static_cast<size_t>(adapted.settings.integer(key("server.max_body_bytes"))),
                     static_cast<size_t>(adapted.settings.integer(key("server.max_json_depth"))));
  if (!input.ok()) return input.failure();
  Result<std::unique_ptr<Journal>> output = Journal::open(request.output);
  if (!output.ok()) return output.failure();
  Result<std::unique_ptr<Journal>> failures = Journal::open(failures_path);
  if (!failures.ok()) return failures.failure();
  const size_t num_before = (*output)->size() + (*failures)->size();
  if (num_before > 0) say(dim(fmt::format("{} tasks are done; going on", format_count(num_before))));
  Result<std::vector<ModelSource>> sources = model_sources(adapted.settings, request.environment, request.model, request.name);
  if (!sources.ok()) return sources.failure();
  Result<std::unique_ptr<LogSink>> log = LogSink::open(adapted.settings);
  if (!log.ok()) return log.failure();
  Result<gainz_runtime*> runtime = make_runtime(adapted.settings, **log);
  if (!runtime.ok()) return runtime.failure();
  Batch batch(adapted, **input, **output, **failures, **log, *runtime, *std::move(sources));
  if (Outcome outcome = batch.run(); !outcome.ok()) return outcome;
  say(dim(fmt::format("{} tasks done, {} failed", format_count((*output)->size()), format_count((*failures)->size()))));
  if ((*failures)->size() > 0)
    return Failure{fmt::format("{} tasks failed; {} says why", (*failures)->size(), printable(failures_path))};
  return Done{};
}

}  // namespace gainz::host
