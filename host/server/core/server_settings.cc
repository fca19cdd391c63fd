#include "server/core/server_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"

namespace gainz::host {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::chrono::milliseconds seconds_of(const Settings& settings, size_t index) {
  return std::chrono::seconds(settings.integer(index));
}

size_t size_of(const Settings& settings, size_t index) { return static_cast<size_t>(settings.integer(index)); }

// What can be sent in a header field.
bool is_key_text(std::string_view key) {
  return !key.empty() && key.size() <= kMaxKeyBytes &&
         std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 127; });
}

Outcome add_key(std::vector<NamedKey>& keys, NamedKey key, const std::string& where) {
  if (!is_key_text(key.key))
    return Failure{fmt::format("{}: a key is 1 to {} printable ASCII characters without spaces", where, kMaxKeyBytes)};
  for (const NamedKey& other : keys) {
    if (other.key == key.key) return Failure{fmt::format("{}: the same key as that of \"{}\"", where, printable(other.name))};
    if (other.name == key.name)
      return Failure{fmt::format("{}: a second key with the name \"{}\"", where, printable(key.name))};
  }
  if (keys.size() == kMaxKeys) return Failure{fmt::format("{}: more keys than the limit of {}", where, kMaxKeys)};
  keys.push_back(std::move(key));
  return Done{};
}

}  // namespace

HttpLimits http_limits_of(const Settings& settings) {
  HttpLimits out;
  out.uri_bytes = size_of(settings, key("server.max_uri_bytes"));
  out.header_bytes = size_of(settings, key("server.max_header_bytes"));
  out.num_headers = size_of(settings, key("server.max_headers"));
  out.body_bytes = size_of(settings, key("server.max_body_bytes"));
  out.num_connections = size_of(settings, key("server.max_connections"));
  out.all_body_bytes = size_of(settings, key("server.all_body_bytes"));
  out.tls_handshake = out.header_time = seconds_of(settings, key("server.header_seconds"));
  out.body_time = seconds_of(settings, key("server.body_seconds"));
  out.idle_time = seconds_of(settings, key("server.idle_seconds"));
  out.write_time = seconds_of(settings, key("server.write_seconds"));
  return out;
}

Result<std::vector<NamedKey>> keys_of(const Settings& settings) {
  std::vector<NamedKey> keys;
  if (const std::string& only = settings.text(key("server.api_key")); !only.empty()) {
    const std::string where = printable(settings.at(key("server.api_key")).where);
    if (Outcome added = add_key(keys, {"default", only}, where); !added.ok()) return added.failure();
  }
  const std::string& path = settings.text(key("server.api_key_file"));
  if (path.empty()) return keys;
  const Result<std::string> text = read_small_file(path, kMaxKeyFileBytes);
  if (!text.ok()) return Failure{"server.api_key_file: " + text.failure().sentence};
  std::string_view rest = *text;
  for (size_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#') continue;
    const size_t blank = line.find_first_of(kBlanks);
    NamedKey entry;
    entry.name = blank == std::string_view::npos ? fmt::format("line {}", number) : valid_utf8(line.substr(0, blank));
    entry.key = blank == std::string_view::npos ? line : trimmed(line.substr(blank));
    Outcome added = add_key(keys, std::move(entry), fmt::format("{}:{}", printable(path), number));
    if (!added.ok()) return added.failure();
  }
  if (keys.empty()) return Failure{fmt::format("server.api_key_file: {} holds no key", printable(path))};
  return keys;
}

Result<Access> access_of(const Settings& settings) {
  Result<std::vector<NamedKey>> keys = keys_of(settings);
  if (!keys.ok()) return keys.failure();
  std::vector<std::string> origins;
  std::string_view list = settings.text(key("server.cors_origins"));
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view origin = trimmed(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (origin.empty()) continue;
    const size_t scheme = origin.find("://");
    const bool is_origin =
        origin == "*" || (scheme != std::string_view::npos && origin.find('/', scheme + 3) == std::string_view::npos);
    if (!is_origin) {
      return Failure{
          fmt::format("server.cors_origins: \"{}\" is no origin; one is written as https://chat.example, without a path",
                      printable(origin))};
    }
    origins.emplace_back(origin);
  }
  return Access(*keys, std::move(origins));
}

Result<std::optional<TlsFiles>> tls_files_of(const Settings& settings) {
  TlsFiles files{settings.text(key("server.tls_certificate")), settings.text(key("server.tls_key"))};
  if (files.certificate.empty() && files.key.empty()) return std::optional<TlsFiles>();
  if (files.certificate.empty() || files.key.empty())
    return Failure{fmt::format("{} is set without {}", files.key.empty() ? "server.tls_certificate" : "server.tls_key",
                               files.key.empty() ? "server.tls_key" : "server.tls_certificate")};
  return std::optional<TlsFiles>(std::move(files));
}

bool is_loopback(std::string_view host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

Outcome check_exposure(const Settings& settings) {
  const std::string& host = settings.text(key("server.host"));
  if (is_loopback(host) || settings.boolean(key("server.allow_without_keys"))) return Done{};
  if (!settings.text(key("server.api_key")).empty() || !settings.text(key("server.api_key_file")).empty()) return Done{};
  return Failure{fmt::format(
      "server.host is {}, which other machines reach, and there are no keys: whoever reaches the port could use the "
      "models. Set server.api_key_file, or --allow-without-keys",
      printable(host))};
}

}  // namespace gainz::host
