// From [server] to what the parts of the server take. Failures name the setting. Any thread.
#pragma once

#include <vector>

#include "config/settings.h"
#include "server/http/access.h"
#include "server/http_server.h"

namespace gainz::host {

HttpLimits http_limits_of(const Settings& settings);

inline constexpr size_t kMaxKeyFileBytes = 1 << 20;
inline constexpr size_t kMaxKeyBytes = 1024;
inline constexpr size_t kMaxKeys = 10000;
// api_key and the keys of api_key_file.
Result<std::vector<NamedKey>> keys_of(const Settings& settings);
Result<Access> access_of(const Settings& settings);

// Nothing: plain HTTP. One file without the other is a failure.
Result<std::optional<TlsFiles>> tls_files_of(const Settings& settings);

// Whether the address is one that only this machine reaches.
bool is_loopback(std::string_view host);
// Refuses to serve beyond loopback without keys, unless allow_without_keys says so.
Outcome check_exposure(const Settings& settings);

}  // namespace gainz::host
