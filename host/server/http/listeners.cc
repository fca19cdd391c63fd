#include "server/http/listeners.h"

#include <fmt/format.h>

#include <boost/asio/ip/v6_only.hpp>

#include "base/text.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr int kBacklog = 512;
constexpr int kPortTries = 16;  // for a port that is free in both families

std::string shown(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return fmt::format("{}:{}", endpoint.address().is_v6() ? "[" + address + "]" : address, endpoint.port());
}

ErrorCode open_listener(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
  ErrorCode error;
  acceptor.open(endpoint.protocol(), error);
  if (error) return error;
  // A restart need not wait for old connections to time out. On Linux it never lets two sockets listen on one port.
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6())
    acceptor.set_option(asio::ip::v6_only(endpoint.address() != asio::ip::address_v6::any()), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (!error) acceptor.non_blocking(true, error);
  return error;
}

bool is_missing_family(const ErrorCode& error) {
  return error == asio::error::address_family_not_supported || error == boost::system::errc::address_not_available;
}

Failure failure_of(const tcp::endpoint& endpoint, const ErrorCode& error) {
  if (error == asio::error::address_in_use)
    return Failure{fmt::format("{} is taken by another program; choose another port", shown(endpoint))};
  if (error == asio::error::access_denied)
    return Failure{fmt::format("{} may not be used by this user: {}", shown(endpoint), error.message())};
  return Failure{fmt::format("cannot listen on {}: {}", shown(endpoint), error.message())};
}

using Listeners = std::vector<tcp::acceptor>;

Result<Listeners> bind_both_loopbacks(asio::io_context& io, uint16_t port) {
  const asio::ip::address addresses[] = {asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  ErrorCode error;
  tcp::endpoint endpoint;
  for (int i = 0; i < kPortTries; ++i) {
    Listeners out;
    uint16_t chosen = port;
    bool is_taken = false;
    for (const asio::ip::address& address : addresses) {
      endpoint = {address, chosen};
      tcp::acceptor acceptor(io);
      error = open_listener(acceptor, endpoint);
      if (error && is_missing_family(error)) continue;
      is_taken = error.failed();
      if (is_taken) break;
      chosen = acceptor.local_endpoint().port();
      out.push_back(std::move(acceptor));
    }
    if (!is_taken && !out.empty()) return out;
    if (port != 0 || error != asio::error::address_in_use) break;
  }
  return failure_of(endpoint, error);
}

Result<asio::ip::address> resolve(asio::io_context& io, const std::string& host) {
  ErrorCode error;
  std::string text = host;
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const asio::ip::address address = asio::ip::make_address(text, error);
  if (!error) return address;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, "", tcp::resolver::passive, error);
  if (error || found.empty())
    return Failure{fmt::format("the host {} is neither an address nor a known name: {}", printable(host), error.message())};
  return found.begin()->endpoint().address();
}

}  // namespace

Result<std::vector<tcp::acceptor>> bind_listeners(asio::io_context& io, const std::string& host, uint16_t port) {
  if (host == "localhost") return bind_both_loopbacks(io, port);
  if (host.empty()) return Failure{"the host to listen on is empty; 127.0.0.1 serves this machine alone"};
  const Result<asio::ip::address> address = resolve(io, host);
  if (!address.ok()) return address.failure();
  const tcp::endpoint endpoint(*address, port);
  Listeners out;
  out.emplace_back(io);
  if (const ErrorCode error = open_listener(out.back(), endpoint)) return failure_of(endpoint, error);
  return out;
}

std::string url_of(const tcp::endpoint& endpoint, bool is_tls) {
  asio::ip::address address = endpoint.address();
  if (address.is_unspecified())
    address = address.is_v6() ? asio::ip::address(asio::ip::address_v6::loopback()) : asio::ip::address_v4::loopback();
  std::string host = address.to_string();
  if (const size_t zone = host.find('%'); zone != std::string::npos) host.insert(zone + 1, "25");  // RFC 6874
  return fmt::format("{}://{}{}{}:{}", is_tls ? "https" : "http", address.is_v6() ? "[" : "", host, address.is_v6() ? "]" : "",
                     endpoint.port());
}

}  // namespace gainz::host
