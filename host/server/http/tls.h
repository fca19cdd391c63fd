// TLS settings of the server's side: version 1.2 or later, HTTP/1.1 by ALPN, no renegotiation. Pure function; any thread.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "base/result.h"
#include "server/http_server.h"

namespace gainz::host {

// Fails with the file named if one cannot be read, is no PEM, or the key is not the certificate's.
Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(const TlsFiles& files);

}  // namespace gainz::host
