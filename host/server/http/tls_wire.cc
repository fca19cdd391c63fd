#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "server/http/wire.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

class TlsWire final : public Wire {
 public:
  TlsWire(asio::ip::tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  asio::awaitable<boost::system::error_code> handshake() override {
    const auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kAwait);
    co_return error;
  }

  asio::awaitable<Moved> read_some(std::span<char> out_bytes) override {
    const auto [error, count] = co_await stream_.async_read_some(asio::buffer(out_bytes.data(), out_bytes.size()), kAwait);
    co_return Moved{error, count};
  }

  asio::awaitable<Moved> write_some(std::string_view bytes) override {
    const auto [error, count] = co_await stream_.async_write_some(asio::buffer(bytes.data(), bytes.size()), kAwait);
    co_return Moved{error, count};
  }

  size_t write_now(std::string_view) override { return 0; }

  asio::awaitable<void> end_writing() override {
    // Sends close_notify and then waits for the peer's; whoever has read all is served by the first half.
    co_await stream_.async_shutdown(kAwait);
    boost::system::error_code ignored;
    stream_.next_layer().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  void close() override {
    boost::system::error_code ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  std::shared_ptr<asio::ssl::context> context_;  // of this connection, whatever is reloaded meanwhile
  asio::ssl::stream<asio::ip::tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<Wire> make_tls_wire(asio::ip::tcp::socket socket, std::shared_ptr<asio::ssl::context> context) {
  return std::make_unique<TlsWire>(std::move(socket), std::move(context));
}

}  // namespace gainz::host
