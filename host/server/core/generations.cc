#include "server/core/generations.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "server/api_error.h"
#include "server/core/model_table.h"
#include "server/core/submission.h"
#include "server/exchange.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr double kMeanShare = 0.1;  // of the newest in the mean of durations
constexpr double kLeastRetrySeconds = 1, kMostRetrySeconds = 60;

double seconds_between(Running::Clock::time_point from, Running::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

size_t bytes_of(const GenerationEvent& event) {
  return sizeof event + event.text.size() + event.error.size() + event.top.size() * sizeof(gainz_token_logprob) +
         event.values.size() * sizeof(float);
}

const char* outcome_of(const Running& running, const GenerationEvent& done) {
  if (running.is_unread) return "slow_reader";
  switch (done.finish_reason) {
    case GAINZ_FINISH_STOP:
      return "stop";
    case GAINZ_FINISH_LENGTH:
      return "length";
    case GAINZ_FINISH_CANCELLED:
      return "cancelled";
    case GAINZ_FINISH_TIMEOUT:
      return "timeout";
    default:
      return "error";
  }
}

class RuntimeGeneration final : public Generation {
 public:
  explicit RuntimeGeneration(std::shared_ptr<Running> running) : running_(std::move(running)) {}
  ~RuntimeGeneration() override {
    running_->is_abandoned = true;
    running_->events.clear();
    if (!running_->has_ended) running_->cancel();
  }

  asio::awaitable<GenerationEvent> next() override {
    Running& running = *running_;
    while (running.events.empty()) {
      if (running.has_ended) throw std::logic_error("a generation was asked for events after its last one");
      running.changed.expires_at(asio::steady_timer::time_point::max());
      co_await running.changed.async_wait(kAwait);
    }
    co_return pop();
  }
  std::optional<GenerationEvent> try_next() override {
    if (running_->events.empty()) return std::nullopt;
    return pop();
  }
  void cancel() override { running_->cancel(); }
  void wake(std::shared_ptr<asio::steady_timer> timer) override { running_->listener = std::move(timer); }

 private:
  GenerationEvent pop() {
    GenerationEvent event = std::move(running_->events.front());
    running_->events.pop_front();
    running_->num_bytes -= bytes_of(event);
    return event;
  }

  std::shared_ptr<Running> running_;
};

}  // namespace

RuntimeGenerations::RuntimeGenerations(Parts parts)
    : parts_(std::move(parts)),
      pump_(parts_.io, parts_.context.runtime(), [this](std::vector<Delivery>& batch) { deliver(batch); }) {}

RuntimeGenerations::~RuntimeGenerations() = default;

// The queue's bound, with a guess at when a place will be free.
void RuntimeGenerations::admit(const std::string& model, const Settings& settings) {
  const auto max_sequences = static_cast<uint64_t>(settings.integer(key("max_sequences")));
  const auto max_queue = static_cast<uint64_t>(settings.integer(key("server.max_queue")));
  OfModel& state = models_[model];
  if (state.num_admitted < max_sequences + max_queue) return;
  const double seconds =
      std::clamp(state.mean_seconds / static_cast<double>(max_sequences), kLeastRetrySeconds, kMostRetrySeconds);
  throw ApiError{
      429,
      fmt::format("The model `{}` has {} requests running and waiting, the limit (max_sequences {}, server.max_queue {})",
                  model, state.num_admitted, max_sequences, max_queue),
      "rate_limit_error",
      "queue_full",
      "",
      std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000))};
}

asio::awaitable<std::unique_ptr<Generation>> RuntimeGenerations::start(Exchange& exchange, std::shared_ptr<ServedModel> model,
                                                                       GenerationRequest request) {
  const std::string model_id = model->id();
  const uint64_t handle = ++last_handle_;
  const Settings& settings = parts_.context.settings();
  auto running = std::make_shared<Running>(parts_.io, parts_.context.runtime(), parts_.metrics.of_model(model_id));
  try {
    if (parts_.context.is_draining())
      throw ApiError{503, "The server is shutting down", "server_error", "shutting_down", "", std::chrono::milliseconds(1000)};
    apply_limits(settings, request);
    admit(model_id, model->settings());
    running->place = parts_.key_limits.take(exchange.key(), exchange.request().client);
  } catch (const ApiError& error) {
    parts_.metrics.refused(error);
    throw;
  }
  running->in_use = parts_.models.use(model_id);
  running->model = model_id;
  running->id = exchange.id();
  running->key = exchange.key();
  if (settings.boolean(key("log.content"))) {
    running->logs_content = true;
    running->prompt = request.prompt ? *request.prompt : request.messages_json.value_or("");
  }
  running->max_bytes = static_cast<uint64_t>(settings.integer(key("server.unread_bytes")));
  exchange.on_gone([weak = std::weak_ptr<Running>(running)] {
    if (const auto alive = weak.lock(); alive && !alive->has_ended) alive->cancel();
  });
  running_.emplace(handle, running);
  ++models_[model_id].num_admitted;
  pump_.opened();

  const auto submitted = std::make_shared<Submitted>();
  const auto shared_request = std::make_shared<GenerationRequest>(std::move(request));
  const auto max_prompt = static_cast<size_t>(settings.integer(key("server.max_prompt_tokens")));
  std::function<void()> work = [submitted, shared_request, max_prompt, handle, runtime = running->runtime,
                                id = model->runtime_id()] {
    *submitted = submit(runtime, id, handle, max_prompt, *shared_request);
  };
  std::exception_ptr thrown;
  try {
    co_await parts_.context.off_thread(std::move(work));
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown || submitted->code != GAINZ_OK) {
    remove(handle);
    if (thrown) std::rethrow_exception(thrown);
    ApiError error = of_runtime(submitted->code, submitted->error, model_id);
    if (error.parameter == kPromptParameter) error.parameter = prompt_field(*shared_request);
    parts_.metrics.refused(error);
    throw error;
  }
  running->request = submitted->request;
  if (running->is_cancelled && !running->has_ended) running->cancel();  // the client left meanwhile
  std::unique_ptr<Generation> out = std::make_unique<RuntimeGeneration>(std::move(running));
  co_return out;
}

void RuntimeGenerations::remove(uint64_t handle) {
  const auto it = running_.find(handle);
  if (it == running_.end()) return;
  --models_[it->second->model].num_admitted;
  it->second->place.reset();
  it->second->in_use.reset();
  running_.erase(it);
  pump_.closed();
}

void RuntimeGenerations::deliver(std::vector<Delivery>& batch) {
  for (Delivery& delivery : batch) {
    const auto it = running_.find(delivery.handle);
    if (it == running_.end()) continue;
    const std::shared_ptr<Running> running = it->second;
    const bool is_last = delivery.event.kind == GAINZ_EVENT_DONE;
    if (is_last) end(*running, delivery.event);
    take(*running, std::move(delivery.event));
    if (is_last) remove(delivery.handle);
  }
}

void RuntimeGenerations::take(Running& running, GenerationEvent event) {
  if (event.kind == GAINZ_EVENT_TOKEN) {
    const auto now = Running::Clock::now();
    if (running.has_token) {
      running.metrics.next_token(seconds_between(running.last_token, now));
    } else {
      running.metrics.first_token(seconds_between(running.begin, now));
    }
    running.has_token = true;
    running.last_token = now;
  }
  if (running.logs_content && event.kind != GAINZ_EVENT_DONE) running.answer += event.text;
  if (running.is_abandoned) return;
  running.num_bytes += bytes_of(event);
  running.events.push_back(std::move(event));
  if (running.num_bytes > running.max_bytes && !running.is_unread && !running.has_ended) {
    running.is_unread = true;
    running.cancel();
  }
  running.changed.cancel();
  if (running.listener) running.listener->cancel();
}

void RuntimeGenerations::end(Running& running, GenerationEvent& done) {
  running.has_ended = true;
  if (running.is_unread && done.finish_reason == GAINZ_FINISH_CANCELLED) {
    done.finish_reason = GAINZ_FINISH_ERROR;
    done.code = GAINZ_LIMIT_EXCEEDED;
    done.error =
        fmt::format("the client left more than {} bytes of the answer unread (server.unread_bytes)", running.max_bytes);
  } else if (!running.is_cancelled && done.finish_reason == GAINZ_FINISH_CANCELLED) {
    done.finish_reason = GAINZ_FINISH_ERROR;
    done.code = GAINZ_CANCELLED;
    done.error = fmt::format("the model {} was unloaded", running.model);
  }
  const double seconds = seconds_between(running.begin, Running::Clock::now());
  OfModel& model = models_[running.model];
  model.mean_seconds += kMeanShare * (seconds - model.mean_seconds);
  const char* outcome = outcome_of(running, done);
  running.metrics.ended(done, outcome, seconds);
  if (running.logs_content) running.answer += done.text;
  if (parts_.on_end) parts_.on_end({running, done, outcome});
}

}  // namespace gainz::host
