// Outbox: writes whole pieces to a client, each within a time that grows with its size; a client that takes longer is cut off.
// What has left is in the socket's buffer, whose size is limits.send_buffer_bytes: so much can a slow reader leave unread
// before writing waits. Owner: Connection. Thread: the network thread, one write at a time.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string_view>

#include "server/http/limits.h"
#include "server/http/watch.h"
#include "server/http/wire.h"

namespace gainz::host {

class Outbox {
 public:
  Outbox(Wire& wire, const boost::asio::any_io_executor& executor, const HttpLimits& limits);

  // false: the client left or was too slow; nothing more can be written.
  boost::asio::awaitable<bool> write(std::string_view bytes);
  bool is_broken() const { return is_broken_; }
  bool was_slow() const { return was_slow_; }
  void set_limits(const HttpLimits& limits) { limits_ = limits; }

 private:
  Wire& wire_;
  HttpLimits limits_;
  bool is_broken_ = false, was_slow_ = false;
  Watch watch_;
};

}  // namespace gainz::host
