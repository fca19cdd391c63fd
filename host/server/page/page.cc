// GET /: the chat page, one file without anything from elsewhere. Its policy allows this very script and style and no other,
// and connections to this server alone.
#include <openssl/evp.h>

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "server/page/page_text.h"
#include "server/route.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;

std::string sha256_base64(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int num_bytes = 0;
  EVP_Digest(text.data(), text.size(), digest, &num_bytes, EVP_sha256(), nullptr);
  unsigned char encoded[2 * EVP_MAX_MD_SIZE];
  const int length = EVP_EncodeBlock(encoded, digest, static_cast<int>(num_bytes));
  return std::string(reinterpret_cast<const char*>(encoded), static_cast<size_t>(length));
}

std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

struct Page {
  std::string etag, policy;
};

Page make_page() {
  const std::string_view text = page_text();
  return {"\"" + sha256_base64(text) + "\"",
          "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
          "script-src 'sha256-" +
              sha256_base64(between(text, "<script>", "</script>")) + "'; style-src 'sha256-" +
              sha256_base64(between(text, "<style>", "</style>")) + "'"};
}

asio::awaitable<void> page(ServerContext&, Exchange& exchange) {
  static const Page made = make_page();
  HttpResponse response;
  response.content_type = "text/html; charset=utf-8";
  response.headers = {{"etag", made.etag},
                      {"cache-control", "no-cache"},
                      {"content-security-policy", made.policy},
                      {"x-content-type-options", "nosniff"},
                      {"referrer-policy", "no-referrer"}};
  if (exchange.request().header("if-none-match") == made.etag) {
    response.status = 304;
  } else {
    response.body = page_text();
  }
  co_await exchange.send(std::move(response));
}

constexpr Route kRoutes[] = {{"GET", "/", page, ErrorForm::openai, false, "A page to chat with the models"}};

}  // namespace

std::span<const Route> page_routes() { return kRoutes; }

}  // namespace gainz::host
