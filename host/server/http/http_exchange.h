// HttpExchange: Exchange over a connection. Owner: Connection, while its handler runs. Thread: the network thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/exchange.h"
#include "server/http/outbox.h"
#include "server/http/request_reader.h"
#include "server/http/server_state.h"

namespace gainz::host {

class HttpExchange final : public Exchange {
 public:
  HttpExchange(ServerState& state, Outbox& outbox, std::shared_ptr<const Access> access, HttpRequest request,
               RequestFraming framing);

  const HttpRequest& request() const override { return request_; }
  const std::string& id() const override { return id_; }
  const std::string& key() const override { return key_; }
  boost::asio::awaitable<void> send(HttpResponse response) override;
  boost::asio::awaitable<void> begin_stream(std::string_view content_type) override;
  boost::asio::awaitable<bool> write(std::string_view text) override;
  boost::asio::awaitable<void> end_stream() override;
  bool has_begun() const override { return phase_ != Phase::fresh; }
  void on_gone(std::function<void()> callback) override;
  bool is_gone() const override { return is_gone_; }

  // Calls the handler and says the last word for it, if it did not. Throws nothing that a handler threw.
  boost::asio::awaitable<void> run(const Route& route);
  boost::asio::awaitable<void> fail(const ApiError& error);

  void set_key(std::string name) { key_ = std::move(name); }
  void set_match(const RouteMatch& match) { match_ = match; }
  void close_after() { framing_.keep_alive = false; }
  void set_body(std::string body) { request_.body = std::move(body); }

  void gone();                       // the client left
  void end(const ApiError& reason);  // the server ends: `reason` is the last word
  bool is_streaming() const { return phase_ == Phase::streaming; }
  // Whether another request may follow on the connection.
  bool keeps_alive() const { return framing_.keep_alive && phase_ == Phase::ended && !outbox_.is_broken(); }
  ExchangeRecord record() const;

 private:
  enum class Phase : uint8_t { fresh, streaming, ended };
  HttpHeaders common_headers() const;
  void call_gone();

  ServerState& state_;
  Outbox& outbox_;
  std::shared_ptr<const Access> access_;
  HttpRequest request_;
  RequestFraming framing_;
  RouteMatch match_;
  std::string id_, key_, problem_;
  std::string piece_;  // of a stream, as it goes out
  std::vector<std::function<void()>> gone_callbacks_;
  std::optional<ApiError> ending_;
  Phase phase_ = Phase::fresh;
  bool is_head_ = false, is_gone_ = false;
  int status_ = 0;
  uint64_t num_bytes_out_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace gainz::host
