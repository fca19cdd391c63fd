// Access: who may ask, and which pages of other origins may. Value type that HttpServer copies; replaced as a whole when the
// configuration is read again. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_message.h"

namespace gainz::host {

struct NamedKey {
  std::string name;  // for limits, metrics and the log; never the key itself
  std::string key;
};

class Access {
 public:
  Access() = default;  // no keys: any caller, any key; no foreign origins
  // Origins as browsers send them: "https://chat.example:8443". "*" allows any page, without credentials.
  Access(const std::vector<NamedKey>& keys, std::vector<std::string> origins);

  bool has_keys() const { return !keys_.empty(); }
  // The name of the key in `authorization: Bearer` or `x-api-key`; nothing: a key is needed, and none or a wrong one came.
  // Without keys: "". Takes the same time for any wrong key: digests are compared, every byte of every key.
  std::optional<std::string> key_name(const HttpRequest& request) const;

  bool allows_origin(std::string_view origin) const;
  bool any_origin() const;

 private:
  using Digest = std::array<uint8_t, 32>;
  struct Entry {
    std::string name;
    Digest digest;
  };
  static Digest digest_of(std::string_view key);

  std::vector<Entry> keys_;
  std::vector<std::string> origins_;
};

}  // namespace gainz::host
