// The head of an answer as bytes. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/api_error.h"
#include "server/error_text.h"
#include "server/http_message.h"

namespace gainz::host {

std::string_view reason_phrase(int status);  // RFC 9110; "Unknown" for numbers that have none

struct ResponseFraming {
  std::optional<uint64_t> content_length;
  bool is_chunked = false;
  bool is_http_1_0 = false;
  bool keep_alive = true;
};

// With server and date. Control characters in values become blanks, so that no value can add a field.
std::string response_head(int status, const ResponseFraming& framing, const HttpHeaders& headers);

// The answer that an ApiError is, with retry-after (whole seconds, rounded up) and retry-after-ms, and www-authenticate of a
// 401.
HttpResponse error_response(ErrorForm form, const ApiError& error);

// x-request-id of a client: 1 to 128 letters, digits or any of . _ : + / = @ -
bool is_request_id(std::string_view text);
std::string new_request_id();  // "req-" and 24 hexadecimal digits that do not repeat

}  // namespace gainz::host
