// ServerState: what the connections of one HttpServer share. Owner: HttpServer and each connection, so that none outlives it.
// Thread: the network thread.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>
#include <unordered_set>

#include "server/http_server.h"

namespace gainz::host {

class Connection;

struct ServerState {
  ServerContext& context;
  Router router;
  HttpLimits limits;
  std::shared_ptr<const Access> access;
  HttpHooks hooks;
  std::shared_ptr<boost::asio::ssl::context> tls = {};  // of new connections
  std::unordered_set<Connection*> connections = {};     // each adds and removes itself
  size_t num_exchanges = 0;
  size_t num_body_bytes = 0;  // of all requests that are being read or answered
  bool is_stopping = false;
  std::optional<ApiError> ending = {};

  void report(const std::string& sentence) const {
    if (hooks.on_problem) hooks.on_problem(sentence);
  }
};

}  // namespace gainz::host
