// The target of a request line, taken apart. Pure function; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gainz::host {

struct RequestTarget {
  std::string path;       // percent-decoded, runs of '/' collapsed; "*" for OPTIONS *
  std::string query;      // as sent
  std::string authority;  // of the absolute form, which counts instead of the host field; "" otherwise
};

// Origin form, absolute form (RFC 9112, 3.2), or "*". A percent sign must be followed by two hexadecimal digits that are not
// 00.
Result<RequestTarget> parse_request_target(std::string_view target);

}  // namespace gainz::host
