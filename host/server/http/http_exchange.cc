#include "server/http/http_exchange.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <stdexcept>

#include "server/http/origin.h"
#include "server/http/response_head.h"

namespace gainz::host {

namespace asio = boost::asio;

HttpExchange::HttpExchange(ServerState& state, Outbox& outbox, std::shared_ptr<const Access> access, HttpRequest request,
                           RequestFraming framing)
    : state_(state), outbox_(outbox), access_(std::move(access)), request_(std::move(request)), framing_(framing) {
  const std::string_view given = request_.header("x-request-id");
  id_ = is_request_id(given) ? std::string(given) : new_request_id();
  is_head_ = request_.method == "HEAD";
  if (state_.is_stopping) close_after();
}

HttpHeaders HttpExchange::common_headers() const {
  HttpHeaders out = {{"x-request-id", id_}};
  for (auto& field : cors_headers(*access_, request_)) out.push_back(std::move(field));
  return out;
}

asio::awaitable<void> HttpExchange::send(HttpResponse response) {
  if (phase_ != Phase::fresh) throw std::logic_error("an answer was sent twice");
  phase_ = Phase::ended;
  status_ = response.status;
  HttpHeaders headers = common_headers();
  if (!response.content_type.empty() && response.status != 204) headers.emplace_back("content-type", response.content_type);
  for (auto& field : response.headers) headers.push_back(std::move(field));
  const ResponseFraming framing = {
      .content_length = response.body.size(), .is_http_1_0 = framing_.is_http_1_0, .keep_alive = framing_.keep_alive};
  std::string text = response_head(response.status, framing, headers);
  if (!is_head_) {
    text += response.body;
    num_bytes_out_ = response.body.size();
  }
  const bool sent = co_await outbox_.write(text);
  if (!sent) gone();
}

asio::awaitable<void> HttpExchange::begin_stream(std::string_view content_type) {
  if (phase_ != Phase::fresh) throw std::logic_error("a stream began after an answer");
  phase_ = Phase::streaming;
  status_ = 200;
  if (framing_.is_http_1_0) close_after();  // its end is the end of the connection
  HttpHeaders headers = common_headers();
  headers.emplace_back("content-type", content_type);
  headers.emplace_back("cache-control", "no-cache");
  headers.emplace_back("x-accel-buffering", "no");  // proxies pass each event on at once
  const ResponseFraming framing = {.is_chunked = !framing_.is_http_1_0, .keep_alive = framing_.keep_alive};
  const std::string head = response_head(200, framing, headers);
  const bool sent = co_await outbox_.write(head);
  if (!sent) gone();
}

asio::awaitable<bool> HttpExchange::write(std::string_view text) {
  if (phase_ != Phase::streaming) throw std::logic_error("a piece was written outside a stream");
  if (is_gone_) co_return false;
  if (text.empty() || is_head_) co_return true;
  piece_.clear();
  if (framing_.is_http_1_0) {
    piece_.append(text);
  } else {
    fmt::format_to(std::back_inserter(piece_), "{:x}\r\n{}\r\n", text.size(), text);
  }
  num_bytes_out_ += text.size();
  const bool sent = co_await outbox_.write(piece_);
  if (!sent) gone();
  co_return !is_gone_;
}

asio::awaitable<void> HttpExchange::end_stream() {
  if (phase_ != Phase::streaming) throw std::logic_error("a stream ended that had not begun");
  phase_ = Phase::ended;
  if (is_gone_) close_after();  // the client may have missed something
  if (is_gone_ || is_head_ || framing_.is_http_1_0) co_return;
  const bool sent = co_await outbox_.write("0\r\n\r\n");
  if (!sent) gone();
}

asio::awaitable<void> HttpExchange::run(const Route& route) {
  std::optional<ApiError> failure;
  const ApiError internal = {
      500, "the server failed at this request; its log has the reason under the id " + id_, "server_error", "", "", {}};
  try {
    co_await route.handler(state_.context, *this);
  } catch (const ApiError& error) {
    failure = error;
  } catch (const std::bad_alloc&) {
    problem_ = "out of memory";
    failure = ApiError{503, "there is not enough memory for this request", "server_error", "out_of_memory", "", {}};
  } catch (const std::exception& error) {
    problem_ = error.what();
    failure = internal;
  } catch (...) {
    problem_ = "an exception of unknown type";
    failure = internal;
  }
  gone_callbacks_.clear();
  if (!failure && phase_ == Phase::fresh) {
    if (!ending_) problem_ = "the handler gave no answer";
    failure = internal;
  }
  if (!failure && phase_ == Phase::streaming && ending_) failure = internal;
  if (failure) {
    if (ending_ && failure->status >= 500) failure = ending_;
    const ApiError error = *failure;
    co_await fail(error);
  } else if (phase_ == Phase::streaming) {
    co_await end_stream();
  }
}

asio::awaitable<void> HttpExchange::fail(const ApiError& error) {
  if (phase_ == Phase::ended) co_return;
  if (phase_ == Phase::fresh) {
    HttpResponse response = error_response(match_.form, error);
    if (error.status == 405) response.headers.emplace_back("allow", match_.allow);
    co_await send(std::move(response));
  } else {
    const std::string event = error_event(match_.form, error);
    co_await write(event);
    co_await end_stream();
  }
}

void HttpExchange::on_gone(std::function<void()> callback) {
  if (is_gone_ || ending_) {
    callback();
  } else {
    gone_callbacks_.push_back(std::move(callback));
  }
}

void HttpExchange::call_gone() {
  for (const auto& callback : std::exchange(gone_callbacks_, {})) {
    try {
      callback();
    } catch (const std::exception& error) {
      state_.report(fmt::format("ending the exchange {} failed: {}", id_, error.what()));
    }
  }
}

void HttpExchange::gone() {
  if (is_gone_) return;
  is_gone_ = true;
  call_gone();
}

void HttpExchange::end(const ApiError& reason) {
  if (ending_) return;
  ending_ = reason;
  close_after();
  call_gone();
}

ExchangeRecord HttpExchange::record() const {
  ExchangeRecord out;
  out.id = id_;
  out.key = key_;
  out.client = request_.client;
  out.method = request_.method;
  out.path = request_.path;
  if (match_.route) out.route = match_.route->path;
  out.status = status_;
  out.is_gone = is_gone_;
  out.bytes_in = request_.body.size();
  out.bytes_out = num_bytes_out_;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  out.problem = problem_;
  return out;
}

}  // namespace gainz::host
