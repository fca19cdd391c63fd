#include "server/http/request_target.h"

#include "base/text.h"

namespace gainz::host {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// "http://host:1/v1" becomes "/v1".
std::string_view without_authority(std::string_view target) {
  for (const std::string_view scheme : {std::string_view("http://"), std::string_view("https://")}) {
    if (!target.starts_with(scheme)) continue;
    const size_t end = target.find_first_of("/?", scheme.size());
    return end == std::string_view::npos ? "/" : target.substr(end);
  }
  return target;
}

}  // namespace

Result<RequestTarget> parse_request_target(std::string_view target) {
  if (target == "*") return RequestTarget{"*", ""};
  const std::string_view local = without_authority(target);
  const size_t question = local.find('?');
  const std::string_view encoded = local.substr(0, question);
  if (!local.starts_with('/') && !(target.size() > local.size() && local.starts_with('?')))
    return Failure{"the request target must begin with /"};
  RequestTarget out;
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
