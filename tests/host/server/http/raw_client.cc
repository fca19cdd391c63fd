#include "host/server/http/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace gainz::test {
namespace {

using Clock = std::chrono::steady_clock;

int open_socket(uint16_t port, const std::string& address, int receive_buffer_bytes) {
  const bool is_v6 = address.find(':') != std::string::npos;
  const int fd = ::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (receive_buffer_bytes > 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof(receive_buffer_bytes));
  sockaddr_storage storage{};
  socklen_t length = 0;
  if (is_v6) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr);
    length = sizeof(v6);
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    inet_pton(AF_INET, address.c_str(), &v4.sin_addr);
    length = sizeof(v4);
  }
  if (::connect(fd, reinterpret_cast<sockaddr*>(&storage), length) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

std::string RawResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

RawClient::RawClient(uint16_t port, const std::string& address, int receive_buffer_bytes)
    : fd_(open_socket(port, address, receive_buffer_bytes)) {}

RawClient::~RawClient() { close(); }

bool RawClient::send(std::string_view bytes) {
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno != EAGAIN || Clock::now() > deadline) return false;
    pollfd wait{fd_, POLLOUT, 0};
    ::poll(&wait, 1, 100);
  }
  return true;
}

void RawClient::end_sending() { ::shutdown(fd_, SHUT_WR); }

void RawClient::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void RawClient::reset() {
  const linger now{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  close();
}

bool RawClient::fill(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd wait{fd_, POLLIN, 0};
  if (left < 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return false;
  char bytes[65536];
  const ssize_t count = ::recv(fd_, bytes, sizeof(bytes), 0);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

std::string RawClient::line(Clock::time_point deadline) {
  size_t end;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (!fill(deadline)) return "";
  }
  const std::string out = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return out;
}

bool RawClient::take(size_t count, std::string& out, Clock::time_point deadline) {
  while (buffer_.size() < count && fill(deadline)) {
  }
  const size_t taken = std::min(count, buffer_.size());
  out.append(buffer_, 0, taken);
  buffer_.erase(0, taken);
  return taken == count;
}

RawResponse RawClient::receive(std::chrono::milliseconds limit, bool is_head) {
  const auto deadline = Clock::now() + limit;
  RawResponse out;
  const std::string status_line = line(deadline);
  if (!status_line.starts_with("HTTP/1.1 ") || status_line.size() < 12) return out;
  out.status = std::stoi(status_line.substr(9, 3));
  out.reason = status_line.size() > 13 ? status_line.substr(13) : "";
  for (std::string field = line(deadline); !field.empty(); field = line(deadline)) {
    const size_t colon = field.find(": ");
    std::string name = field.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    out.headers[name] = colon == std::string::npos ? "" : field.substr(colon + 2);
  }
  if (is_head || out.status == 204 || out.status == 100) {
    out.is_whole = true;
  } else if (out.headers.contains("content-length")) {
    out.is_whole = take(std::stoul(out.headers["content-length"]), out.body, deadline);
  } else if (out.header("transfer-encoding") == "chunked") {
    for (;;) {
      const std::string size = line(deadline);
      if (size.empty()) return out;
      const size_t count = std::stoul(size, nullptr, 16);
      std::string end;
      if (!take(count, out.body, deadline) || !take(2, end, deadline)) return out;
      if (count == 0) break;
    }
    out.is_whole = true;
  } else {
    while (fill(deadline)) {
    }
    out.body = std::exchange(buffer_, "");
    out.is_whole = true;
  }
  return out;
}

std::string RawClient::receive_bytes(size_t count, std::chrono::milliseconds limit) {
  std::string out;
  take(count, out, Clock::now() + limit);
  return out;
}

bool RawClient::is_closed_within(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait{fd_, POLLIN, 0};
    if (left < 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return false;
    char bytes[4096];
    if (::recv(fd_, bytes, sizeof(bytes), 0) <= 0) return true;
  }
}

RawResponse RawClient::ask(std::string_view bytes) {
  send(bytes);
  return receive();
}

std::string get(std::string_view path, std::string_view more_headers) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: t\r\n" + std::string(more_headers) + "\r\n";
}

std::string post(std::string_view path, std::string_view body, std::string_view more_headers) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(more_headers) + "\r\n" + std::string(body);
}

}  // namespace gainz::test
