// RawClient: a socket that sends exactly the bytes it is told to, for tests of the wire. Every wait has an end. Owner: the
// test.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace gainz::test {

struct RawResponse {
  int status = 0;  // 0: none came
  std::string reason;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // chunks joined
  bool is_whole = false;                       // the body ended as its framing says
  std::string header(const std::string& name) const;
};

class RawClient {
 public:
  explicit RawClient(uint16_t port, const std::string& address = "127.0.0.1", int receive_buffer_bytes = 0);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool is_connected() const { return fd_ >= 0; }
  bool send(std::string_view bytes);  // false: the peer does not take them
  void end_sending();                 // FIN of our direction
  void close();                       // FIN
  void reset();                       // RST
  int fd() const { return fd_; }

  // One answer. After HEAD there is no body.
  RawResponse receive(std::chrono::milliseconds limit = std::chrono::seconds(10), bool is_head = false);
  // Bytes as they come, until there are `count` or the end.
  std::string receive_bytes(size_t count, std::chrono::milliseconds limit = std::chrono::seconds(10));
  // true: the peer closed (or reset) within the limit; what it sent meanwhile is dropped.
  bool is_closed_within(std::chrono::milliseconds limit);

  RawResponse ask(std::string_view bytes);  // send, receive

 private:
  bool fill(std::chrono::steady_clock::time_point deadline);  // false: end or deadline
  std::string line(std::chrono::steady_clock::time_point deadline);
  bool take(size_t count, std::string& out, std::chrono::steady_clock::time_point deadline);

  int fd_ = -1;
  std::string buffer_;
};

std::string get(std::string_view path, std::string_view more_headers = "");
std::string post(std::string_view path, std::string_view body, std::string_view more_headers = "");

}  // namespace gainz::test
