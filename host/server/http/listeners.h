// Listening sockets. Pure functions; the network thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace gainz::host {

// One socket for an address, two for "localhost" where both families exist; HttpServer::listen says which hosts there are. They
// listen: a port is ours alone from here on (no SO_REUSEPORT), whichever process asks later.
Result<std::vector<boost::asio::ip::tcp::acceptor>> bind_listeners(boost::asio::io_context& io, const std::string& host,
                                                                   uint16_t port);

// "https://[::1]:8080"; a wildcard is shown as the loopback address of its family.
std::string url_of(const boost::asio::ip::tcp::endpoint& endpoint, bool is_tls);

}  // namespace gainz::host
