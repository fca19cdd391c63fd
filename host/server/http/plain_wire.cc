#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "server/http/wire.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

class PlainWire final : public Wire {
 public:
  explicit PlainWire(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {
    boost::system::error_code ignored;
    socket_.non_blocking(true, ignored);
  }

  asio::awaitable<boost::system::error_code> handshake() override { co_return boost::system::error_code(); }

  asio::awaitable<Moved> read_some(std::span<char> out_bytes) override {
    const auto [error, count] = co_await socket_.async_read_some(asio::buffer(out_bytes.data(), out_bytes.size()), kAwait);
    co_return Moved{error, count};
  }

  asio::awaitable<Moved> write_some(std::string_view bytes) override {
    const auto [error, count] = co_await socket_.async_write_some(asio::buffer(bytes.data(), bytes.size()), kAwait);
    co_return Moved{error, count};
  }

  size_t write_now(std::string_view bytes) override {
    boost::system::error_code error;
    const size_t count = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
    return error ? 0 : count;
  }

  asio::awaitable<void> end_writing() override {
    boost::system::error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    co_return;
  }

  void close() override {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  asio::ip::tcp::socket socket_;
};

}  // namespace

std::unique_ptr<Wire> make_plain_wire(asio::ip::tcp::socket socket) { return std::make_unique<PlainWire>(std::move(socket)); }

}  // namespace gainz::host
