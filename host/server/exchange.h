// Exchange: one request of a connection and the ways to answer it. Either send() once, or begin_stream(), write() as often as
// needed, end_stream(). Owner: the connection's coroutine. Thread: the server's network thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "server/http_message.h"

namespace gainz::host {

class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const HttpRequest& request() const = 0;
  virtual const std::string& id() const = 0;   // x-request-id: the client's if it is well-formed, else made here
  virtual const std::string& key() const = 0;  // name of the key that the request came with; "" without keys

  virtual boost::asio::awaitable<void> send(HttpResponse response) = 0;

  // 200 with chunked transfer (HTTP/1.0: until the connection closes).
  virtual boost::asio::awaitable<void> begin_stream(std::string_view content_type) = 0;
  // Whole events or lines. false: the client left, or read too slowly for the stated bound; the stream is over and nothing more
  // can be said on it.
  virtual boost::asio::awaitable<bool> write(std::string_view text) = 0;
  virtual boost::asio::awaitable<void> end_stream() = 0;
  virtual bool has_begun() const = 0;  // a status line is out: errors must go into the stream

  // Called once, on the network thread, when the client leaves or the server ends the exchange (grace over). Generations of the
  // exchange cancel themselves here.
  virtual void on_gone(std::function<void()> callback) = 0;
  virtual bool is_gone() const = 0;
};

}  // namespace gainz::host
