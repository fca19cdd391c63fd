// BatchExchange: a task as an Exchange, so that it is answered by the very handlers of the server. Thread: the network thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "batch/task.h"
#include "server/exchange.h"

namespace gainz::host {

class BatchExchange final : public Exchange {
 public:
  BatchExchange(const Task& task, std::string id);

  const HttpRequest& request() const override { return request_; }
  const std::string& id() const override { return id_; }
  const std::string& key() const override { return key_; }
  boost::asio::awaitable<void> send(HttpResponse response) override;
  boost::asio::awaitable<void> begin_stream(std::string_view content_type) override;  // refused: a batch has no streams
  boost::asio::awaitable<bool> write(std::string_view text) override;
  boost::asio::awaitable<void> end_stream() override;
  bool has_begun() const override { return !answer_.body.empty(); }
  void on_gone(std::function<void()> callback) override;
  bool is_gone() const override { return is_gone_; }

  void cancel();  // its generations end
  TaskAnswer& answer() { return answer_; }

 private:
  HttpRequest request_;
  std::string id_, key_;
  TaskAnswer answer_;
  std::vector<std::function<void()>> callbacks_;
  bool is_gone_ = false;
};

}  // namespace gainz::host
