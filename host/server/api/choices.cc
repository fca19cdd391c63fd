#include "server/api/choices.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace

Choices::Choices(asio::any_io_executor executor) : changed_(std::make_shared<asio::steady_timer>(executor)) {}

asio::awaitable<std::unique_ptr<Choices>> Choices::start(ServerContext& server, Exchange& exchange,
                                                         std::shared_ptr<ServedModel> model,
                                                         std::vector<GenerationRequest> requests) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  std::unique_ptr<Choices> out(new Choices(executor));
  for (GenerationRequest& request : requests) {
    std::unique_ptr<Generation> generation = co_await server.generations().start(exchange, model, std::move(request));
    generation->wake(out->changed_);
    out->generations_.push_back(std::move(generation));
    ++out->num_running_;
  }
  co_return out;
}

std::optional<ChoiceEvent> Choices::try_next() {
  if (failure_) return std::nullopt;
  for (size_t i = 0; i < generations_.size(); ++i) {
    const size_t index = (turn_ + i) % generations_.size();
    if (!generations_[index]) continue;
    std::optional<GenerationEvent> event = generations_[index]->try_next();
    if (!event) continue;
    turn_ = index + 1;
    if (event->kind == GAINZ_EVENT_DONE) {
      generations_[index].reset();
      --num_running_;
      is_cancelled_ |= event->finish_reason == GAINZ_FINISH_CANCELLED;
      failure_ = error_of(*event);
      if (failure_) return std::nullopt;
    }
    return ChoiceEvent{index, *std::move(event)};
  }
  return std::nullopt;
}

asio::awaitable<std::optional<ChoiceEvent>> Choices::next(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    if (failure_) throw *failure_;
    std::optional<ChoiceEvent> event = try_next();
    if (failure_ && !event) continue;
    if (event || num_running_ == 0 || std::chrono::steady_clock::now() >= deadline) co_return event;
    changed_->expires_at(deadline);
    co_await changed_->async_wait(kAwait);
  }
}

const char* finish_reason_of(const GenerationEvent& done) {
  return done.finish_reason == GAINZ_FINISH_LENGTH ? "length" : "stop";
}

std::optional<ApiError> error_of(const GenerationEvent& done) {
  if (done.finish_reason == GAINZ_FINISH_TIMEOUT)
    return ApiError{504, "The generation took longer than its time limit", "server_error", "timeout", "", {}};
  if (done.finish_reason == GAINZ_FINISH_ERROR) return of_runtime(done.code, done.error);
  return std::nullopt;
}

std::vector<GenerationRequest> repeated(const GenerationRequest& request, size_t n) {
  std::vector<GenerationRequest> out(n, request);
  for (size_t i = 0; i < n; ++i) out[i].sampling.seed += i;
  return out;
}

}  // namespace gainz::host
