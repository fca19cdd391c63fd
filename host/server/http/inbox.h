// Inbox: the bytes that came from a client and were not taken yet, and the loop that reads them. It reads also while a handler
// runs, so that a client that leaves is noticed at once. Bounded: when it is full, reading waits. Owner: Connection, which must
// outlive run(). Thread: the network thread.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "server/http/wire.h"

namespace gainz::host {

class Inbox {
 public:
  // on_end: called once, when the client has sent its last byte or the wire broke.
  Inbox(Wire& wire, const boost::asio::any_io_executor& executor, size_t max_bytes, std::function<void()> on_end);

  boost::asio::awaitable<void> run();  // until the end

  void stop();  // run() ends, also if it waits for room

  std::string_view bytes() const { return std::string_view(text_).substr(begin_); }
  void take(size_t num_bytes);
  bool has_ended() const { return has_ended_; }
  // Until there are more bytes than before or the end came: true. false: the deadline passed.
  boost::asio::awaitable<bool> wait(std::chrono::steady_clock::time_point deadline);

 private:
  static constexpr size_t kReadBytes = 16 * 1024;
  void tell();

  Wire& wire_;
  size_t max_bytes_;
  std::function<void()> on_end_;
  boost::asio::steady_timer news_;  // cancelled when something came
  boost::asio::steady_timer room_;  // cancelled when something was taken
  std::array<char, kReadBytes> scratch_;
  std::string text_;
  size_t begin_ = 0;
  bool has_news_ = false, has_ended_ = false, is_stopped_ = false;
};

}  // namespace gainz::host
