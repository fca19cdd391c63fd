#include "server/http/tls.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"

namespace gainz::host {
namespace {

namespace ssl = boost::asio::ssl;
using ErrorCode = boost::system::error_code;

constexpr unsigned char kHttp11[] = "\x08http/1.1";  // a list of one protocol, as ALPN writes it

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_bytes, const unsigned char* offered,
                    unsigned offered_bytes, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_bytes, kHttp11, sizeof(kHttp11) - 1, offered, offered_bytes) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<std::shared_ptr<ssl::context>> make_tls_context(const TlsFiles& files) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  ErrorCode error;
  // Without this a key with a passphrase would make OpenSSL ask on the terminal.
  context->set_password_callback([](size_t, ssl::context::password_purpose) { return std::string(); }, error);
  context->use_certificate_chain_file(files.certificate, error);
  if (error)
    return Failure{fmt::format("the TLS certificate {} cannot be used: {}", printable(files.certificate), error.message())};
  context->use_private_key_file(files.key, ssl::context::pem, error);
  if (error) return Failure{fmt::format("the TLS key {} cannot be used: {}", printable(files.key), error.message())};
  if (SSL_CTX_check_private_key(native) != 1)
    return Failure{fmt::format("the TLS key {} does not belong to the certificate {}", printable(files.key),
                               printable(files.certificate))};
  return context;
}

}  // namespace gainz::host
