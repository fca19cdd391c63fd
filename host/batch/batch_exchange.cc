#include "batch/batch_exchange.h"

#include <boost/asio/awaitable.hpp>
#include <utility>

#include "server/api_error.h"

namespace gainz::host {

namespace asio = boost::asio;

BatchExchange::BatchExchange(const Task& task, std::string id) : id_(std::move(id)) {
  request_.method = "POST";
  request_.path = task.url;
  request_.body = task.body;
  request_.client = "batch";
  answer_.request_id = id_;
}

asio::awaitable<void> BatchExchange::send(HttpResponse response) {
  answer_.status = response.status;
  answer_.body = std::move(response.body);
  co_return;
}

asio::awaitable<void> BatchExchange::begin_stream(std::string_view) {
  throw bad_request("stream", "stream must be false: a batch has no streams", "invalid_value");
  co_return;
}

asio::awaitable<bool> BatchExchange::write(std::string_view) { co_return false; }
asio::awaitable<void> BatchExchange::end_stream() { co_return; }

void BatchExchange::on_gone(std::function<void()> callback) {
  if (is_gone_) return callback();
  callbacks_.push_back(std::move(callback));
}

void BatchExchange::cancel() {
  is_gone_ = true;
  for (const auto& callback : std::exchange(callbacks_, {})) callback();
}

}  // namespace gainz::host
