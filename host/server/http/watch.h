// Watch: calls back once when a deadline passes, unless it is disarmed before. Owner: what it guards. Thread: the network
// thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace gainz::host {

class Watch {
 public:
  Watch(const boost::asio::any_io_executor& executor, std::function<void()> on_expiry)
      : timer_(executor), on_expiry_(std::move(on_expiry)) {}
  ~Watch() { ++*serial_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void arm(std::chrono::steady_clock::duration time) {
    timer_.expires_after(time);
    // A timer that has expired can no longer be cancelled: its call is known by an old number.
    timer_.async_wait([this, serial = serial_, armed = ++*serial_](const boost::system::error_code& error) {
      if (!error && *serial == armed) on_expiry_();
    });
  }
  void disarm() {
    ++*serial_;
    timer_.cancel();
  }

 private:
  boost::asio::steady_timer timer_;
  std::function<void()> on_expiry_;
  std::shared_ptr<uint64_t> serial_ = std::make_shared<uint64_t>(0);
};

}  // namespace gainz::host
