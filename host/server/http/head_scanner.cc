#include "server/http/head_scanner.h"

#include <fmt/format.h>

namespace gainz::host {
namespace {

constexpr size_t kMaxMethodBytes = 32;

}  // namespace

bool is_token_char(unsigned char byte) {
  const bool is_alphanumeric = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
  return is_alphanumeric ||
         (byte != 0 && std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(byte)) != std::string_view::npos);
}

bool HeadScanner::refuse(int status, std::string message) {
  error_ = {status, std::move(message), "invalid_request_error", "", "", {}};
  return true;
}

bool HeadScanner::is_bad_start(unsigned char byte) {
  if (part_ == Part::method) {
    if (byte == ' ') {
      part_ = Part::target;
      return method_bytes_ == 0 && refuse(400, "the request line has no method");
    }
    if (!is_token_char(byte)) return refuse(400, "the request line is malformed");
    return ++method_bytes_ > kMaxMethodBytes && refuse(400, fmt::format("the method is longer than {} bytes", kMaxMethodBytes));
  }
  if (part_ == Part::target) {
    if (byte == ' ') {
      part_ = Part::rest;
      return false;
    }
    return ++target_bytes_ > limits_.uri_bytes &&
           refuse(414, fmt::format("the request target is longer than {} bytes", limits_.uri_bytes));
  }
  return false;
}

bool HeadScanner::is_bad(unsigned char byte) {
  if (byte == '\n' && !after_cr_) return refuse(400, "a line of the header ends with LF alone; CR LF is needed");
  if (after_cr_ && byte != '\n') return refuse(400, "the header has a CR that does not end a line");
  if (at_ >= limits_.header_bytes) return refuse(431, fmt::format("the header is longer than {} bytes", limits_.header_bytes));
  if (byte == '\r' || byte == '\n') return false;
  if ((byte < 0x20 && byte != '\t') || byte == 0x7F)
    return refuse(400, fmt::format("the header has the control character 0x{:02X}", byte));
  if (num_lines_ == 0) return is_bad_start(byte);
  if (at_ == line_begin_ && (byte == ' ' || byte == '\t')) return refuse(400, "the header has a folded line");
  return at_ == line_begin_ && num_lines_ > limits_.num_headers &&
         refuse(431, fmt::format("the header has more than {} fields", limits_.num_headers));
}

bool HeadScanner::line_ends(size_t line_bytes) {
  if (line_bytes == 0) return true;
  ++num_lines_;
  return false;
}

HeadScanner::Step HeadScanner::scan(std::string_view bytes) {
  while (at_ < bytes.size()) {
    const auto byte = static_cast<unsigned char>(bytes[at_]);
    if (is_bad(byte)) return Step::failed;
    after_cr_ = byte == '\r';
    ++at_;
    if (byte != '\n') continue;
    const bool is_end = line_ends(at_ - 2 - line_begin_);
    line_begin_ = at_;
    if (is_end) return Step::complete;
  }
  return Step::need_more;
}

}  // namespace gainz::host
