// HeadScanner: looks at the raw bytes of a request's head as they come, before anything is parsed, so that what no good client
// sends (NUL, bare line ends, folded lines, too many or too long ones) is refused at the first bad byte and never kept. RFC
// 9112. Value type; one thread at a time.
#pragma once

#include <cstddef>
#include <string_view>

#include "server/api_error.h"
#include "server/http/limits.h"

namespace gainz::host {

class HeadScanner {
 public:
  enum class Step : uint8_t { need_more, complete, failed };

  explicit HeadScanner(const HttpLimits& limits) : limits_(limits) {}

  // bytes: all of the request so far, from its first. Each byte is looked at once.
  Step scan(std::string_view bytes);
  size_t num_bytes() const { return at_; }          // complete: of the head with its empty line
  const ApiError& error() const { return error_; }  // failed

 private:
  bool line_ends(size_t line_bytes);  // true: the empty line
  bool is_bad(unsigned char byte);    // sets error_
  bool is_bad_start(unsigned char byte);
  bool refuse(int status, std::string message);

  HttpLimits limits_;
  ApiError error_;
  size_t at_ = 0, line_begin_ = 0;
  size_t num_lines_ = 0;  // finished ones, the request line included
  size_t method_bytes_ = 0, target_bytes_ = 0;
  enum class Part : uint8_t { method, target, rest } part_ = Part::method;
  bool after_cr_ = false;
};

bool is_token_char(unsigned char byte);  // RFC 9110, 5.6.2

}  // namespace gainz::host
