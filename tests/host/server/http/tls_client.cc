#include "host/server/http/tls_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>

namespace gainz::test {

host::TlsFiles make_certificate(const TempFolder& folder, const std::string& name, const std::string& passphrase) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509_sign(certificate, key, EVP_sha256());
  const host::TlsFiles files = {folder.file(name + ".crt"), folder.file(name + ".key")};
  FILE* file = fopen(files.certificate.c_str(), "w");
  PEM_write_X509(file, certificate);
  fclose(file);
  file = fopen(files.key.c_str(), "w");
  PEM_write_PrivateKey(file, key, passphrase.empty() ? nullptr : EVP_aes_128_cbc(),
                       reinterpret_cast<const unsigned char*>(passphrase.data()), static_cast<int>(passphrase.size()), nullptr,
                       nullptr);
  fclose(file);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return files;
}

struct TlsClient::State {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* ssl = nullptr;
  int fd = -1;
  bool is_connected = false;
};

TlsClient::TlsClient(uint16_t port, int max_version) : state_(std::make_unique<State>()) {
  State& state = *state_;
  if (max_version != 0) {
    SSL_CTX_set_min_proto_version(state.context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(state.context, max_version);
    SSL_CTX_set_security_level(state.context, 0);
    SSL_CTX_set_cipher_list(state.context, "ALL:@SECLEVEL=0");
  }
  state.ssl = SSL_new(state.context);
  static constexpr unsigned char kOffered[] = "\x02h2\x08http/1.1";
  SSL_set_alpn_protos(state.ssl, kOffered, sizeof(kOffered) - 1);
  state.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{10, 0};
  setsockopt(state.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(state.fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return;
  SSL_set_fd(state.ssl, state.fd);
  state.is_connected = SSL_connect(state.ssl) == 1;
  ERR_clear_error();
}

TlsClient::~TlsClient() {
  if (state_->is_connected && state_->fd >= 0) SSL_shutdown(state_->ssl);
  SSL_free(state_->ssl);
  SSL_CTX_free(state_->context);
  if (state_->fd >= 0) ::close(state_->fd);
}

void TlsClient::drop() {
  ::close(state_->fd);
  state_->fd = -1;
}

bool TlsClient::is_connected() const { return state_->is_connected; }
std::string TlsClient::version() const { return SSL_get_version(state_->ssl); }

std::string TlsClient::protocol() const {
  const unsigned char* text = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(state_->ssl, &text, &length);
  return std::string(reinterpret_cast<const char*>(text), length);
}

std::string TlsClient::peer_name() const {
  X509* certificate = SSL_get1_peer_certificate(state_->ssl);
  char name[100] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
  X509_free(certificate);
  return name;
}

bool TlsClient::send(std::string_view bytes) {
  return SSL_write(state_->ssl, bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size());
}

std::string TlsClient::receive_until(std::string_view end) {
  std::string out;
  char byte;
  while (!out.ends_with(end) && SSL_read(state_->ssl, &byte, 1) == 1) out += byte;
  ERR_clear_error();
  return out;
}

}  // namespace gainz::test
