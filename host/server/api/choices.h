// Choices: the generations of one request (n answers, or several prompts), their events merged as they come. Owner: the
// handler; destroying it cancels what runs. Thread: the network thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "server/api_error.h"
#include "server/exchange.h"
#include "server/generation.h"
#include "server/server.h"

namespace gainz::host {

struct ChoiceEvent {
  size_t index = 0;  // of the request it belongs to
  GenerationEvent event;
};

class Choices {
 public:
  // Throws ApiError if one of them is refused; none runs then.
  static boost::asio::awaitable<std::unique_ptr<Choices>> start(ServerContext& server, Exchange& exchange,
                                                                std::shared_ptr<ServedModel> model,
                                                                std::vector<GenerationRequest> requests);

  // The next event of any; nothing: none came in that time. A generation that failed or timed out is an ApiError here, after
  // all that came before it.
  boost::asio::awaitable<std::optional<ChoiceEvent>> next(std::chrono::milliseconds limit);
  std::optional<ChoiceEvent> try_next();
  bool is_over() const { return num_running_ == 0 && !failure_; }
  // The client left or the server ends: nothing more is to be said.
  bool is_cancelled() const { return is_cancelled_; }
  size_t size() const { return generations_.size(); }

 private:
  explicit Choices(boost::asio::any_io_executor executor);

  std::vector<std::unique_ptr<Generation>> generations_;  // null: over
  std::shared_ptr<boost::asio::steady_timer> changed_;
  size_t num_running_ = 0;
  size_t turn_ = 0;  // who is asked first
  std::optional<ApiError> failure_;
  bool is_cancelled_ = false;
};

inline constexpr std::chrono::milliseconds kNoLimit = std::chrono::hours(24 * 365);

// "stop" or "length".
const char* finish_reason_of(const GenerationEvent& done);
// The error a last event stands for; nothing: it ended as it should, or was cancelled.
std::optional<ApiError> error_of(const GenerationEvent& done);

// Copies of one request for n answers: a given seed counts up from one answer to the next.
std::vector<GenerationRequest> repeated(const GenerationRequest& request, size_t n);

}  // namespace gainz::host
