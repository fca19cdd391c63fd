// HttpLimits: what one client may take of the server. The command fills it from [server]; each limit has an answer of its own
// (docs/server.md) and a test that crosses it. Plain data.
#pragma once

#include <chrono>
#include <cstddef>

namespace gainz::host {

struct HttpLimits {
  size_t uri_bytes = 8 * 1024;                // request target; beyond: 414
  size_t header_bytes = 64 * 1024;            // request line and fields, and trailers; beyond: 431
  size_t num_headers = 100;                   // fields; beyond: 431
  size_t body_bytes = 16 * 1024 * 1024;       // chunks joined; beyond: 413, before the body is read if its length is declared
  size_t num_connections = 1024;              // beyond: the longest idle one is closed; if none is idle, 503
  size_t all_body_bytes = 512 * 1024 * 1024;  // of all requests at once; beyond: 503
  size_t send_buffer_bytes = 256 * 1024;      // of the socket: what a slow reader can leave unread

  std::chrono::milliseconds tls_handshake{10'000};  // whole; beyond: closed
  std::chrono::milliseconds header_time{10'000};    // first to last byte of a header; beyond: 408
  std::chrono::milliseconds body_time{30'000};      // whole body, plus its bytes / body_rate, and each wait; beyond: 408
  std::chrono::milliseconds idle_time{75'000};      // between two requests; beyond: closed
  std::chrono::milliseconds write_time{
      30'000};  // until a piece of an answer has left, plus its bytes / write_rate; beyond: closed
  std::chrono::milliseconds linger_time{1'000};  // after a refusal: what still comes is read and dropped, so that it arrives
  size_t body_rate = 64 * 1024;                  // bytes a second that a client must at least send, after body_time
  size_t write_rate = 64 * 1024;                 // ... and take, after write_time
};

}  // namespace gainz::host
