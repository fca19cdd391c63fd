#include "server/http/request_target.h"

#include <algorithm>

#include "base/text.h"

namespace gainz::host {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Of "http://host:1/v1": 7. 0: another form.
size_t scheme_bytes(std::string_view target) {
  for (const std::string_view scheme : {std::string_view("http://"), std::string_view("https://")}) {
    const bool is_it = target.size() >= scheme.size() &&
                       std::equal(scheme.begin(), scheme.end(), target.begin(),
                                  [](char a, char b) { return a == b || (b >= 'A' && b <= 'Z' && a == b + 32); });
    if (is_it) return scheme.size();
  }
  return 0;
}

}  // namespace

Result<RequestTarget> parse_request_target(std::string_view target) {
  if (target == "*") return RequestTarget{"*", ""};
  RequestTarget out;
  std::string_view local = target;
  if (const size_t begin = scheme_bytes(target); begin > 0) {
    const size_t end = std::min(target.find_first_of("/?#", begin), target.size());
    out.authority = target.substr(begin, end - begin);
    if (out.authority.empty()) return Failure{"the request target has no host"};
    local = target.substr(end);
  } else if (!target.starts_with('/')) {
    return Failure{"the request target must begin with /"};
  }
  const size_t question = local.find('?');
  const std::string_view encoded = local.substr(0, question);
  if (question != std::string_view::npos) out.query = local.substr(question + 1);
  out.path = "/";
  for (size_t i = 0; i < encoded.size(); ++i) {
    char c = encoded[i];
    if (c == '%') {
      const int high = i + 2 < encoded.size() ? hex_digit(encoded[i + 1]) : -1;
      const int low = i + 2 < encoded.size() ? hex_digit(encoded[i + 2]) : -1;
      if (high < 0 || low < 0 || high + low == 0)
        return Failure{"the path has a malformed percent sign: " + printable(encoded)};
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c != '/' || out.path.back() != '/') out.path += c;
  }
  if (local.find('#') != std::string_view::npos) return Failure{"the request target must not have a fragment"};
  return out;
}

}  // namespace gainz::host
