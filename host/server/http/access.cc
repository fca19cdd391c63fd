#include "server/http/access.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cctype>

namespace gainz::host {
namespace {

constexpr std::string_view kBearer = "bearer";

bool same_word(std::string_view text, std::string_view lower_word) {
  return std::equal(text.begin(), text.end(), lower_word.begin(), lower_word.end(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

std::string_view offered_key(const HttpRequest& request) {
  const std::string_view authorization = request.header("authorization");
  const size_t space = authorization.find(' ');
  if (space != std::string_view::npos && same_word(authorization.substr(0, space), kBearer)) {
    const size_t first = authorization.find_first_not_of(' ', space);
    return first == std::string_view::npos ? std::string_view() : authorization.substr(first);
  }
  return request.header("x-api-key");
}

}  // namespace

Access::Access(const std::vector<NamedKey>& keys, std::vector<std::string> origins) : origins_(std::move(origins)) {
  for (const NamedKey& key : keys) keys_.push_back({key.name, digest_of(key.key)});
}

Access::Digest Access::digest_of(std::string_view key) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  return digest;
}

std::optional<std::string> Access::key_name(const HttpRequest& request) const {
  if (keys_.empty()) return "";
  const Digest offered = digest_of(offered_key(request));
  const Entry* match = nullptr;
  for (const Entry& entry : keys_) {
    if (CRYPTO_memcmp(entry.digest.data(), offered.data(), offered.size()) == 0) match = &entry;
  }
  if (!match) return std::nullopt;
  return match->name;
}

bool Access::any_origin() const { return std::find(origins_.begin(), origins_.end(), "*") != origins_.end(); }

bool Access::allows_origin(std::string_view origin) const {
  return any_origin() || std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

}  // namespace gainz::host
