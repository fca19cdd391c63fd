// Wire: a connected socket, plain or under TLS, as the few operations that a connection needs. Owner: Connection. Thread: the
// network thread. One read and one write may run at once.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <memory>
#include <span>
#include <string_view>

namespace gainz::host {

class Wire {
 public:
  struct Moved {
    boost::system::error_code error;  // also the orderly end
    size_t num_bytes = 0;
  };

  virtual ~Wire() = default;
  virtual boost::asio::awaitable<boost::system::error_code> handshake() = 0;
  virtual boost::asio::awaitable<Moved> read_some(std::span<char> out_bytes) = 0;
  virtual boost::asio::awaitable<Moved> write_some(std::string_view bytes) = 0;
  // What can leave without waiting: 0 if nothing can.
  virtual size_t write_now(std::string_view bytes) = 0;
  virtual boost::asio::awaitable<void> end_writing() = 0;  // the orderly end of our direction
  virtual void close() = 0;                                // at once; what waits ends with an error
};

std::unique_ptr<Wire> make_plain_wire(boost::asio::ip::tcp::socket socket);
std::unique_ptr<Wire> make_tls_wire(boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> context);

}  // namespace gainz::host
