// ChunkReader: a chunked body out of bytes as they come (RFC 9112, 7.1). It knows the strict form alone: where two readers
// could differ about an end (bare line ends, line ends inside a quotation, blanks, missing ends) it refuses. Extensions and
// trailers are checked for that and dropped; nothing is kept but the body. Value type; one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/api_error.h"
#include "server/http/limits.h"

namespace gainz::host {

class ChunkReader {
 public:
  enum class Step : uint8_t { need_more, done, failed };

  explicit ChunkReader(const HttpLimits& limits) : limits_(limits) {}

  // Takes all bytes but those behind the body's end or a fault. Appends to out_body, which nobody else fills.
  Step read(std::string_view bytes, size_t& out_taken, std::string& out_body);
  const ApiError& error() const { return error_; }  // failed

 private:
  enum class Part : uint8_t {
    size_begin,  // the first digit
    size,
    blanks,      // between the size and the semicolon
    name_begin,  // of an extension
    extension,
    quoted,
    escaped,
    line_feed,  // of a chunk's line
    data,
    data_return,
    data_feed,
    trailer_begin,
    trailer_name,
    trailer_value,
    trailer_feed,
    last_feed,
    done,
    failed,
  };

  void take(unsigned char byte, size_t num_body_bytes);
  void take_size(unsigned char byte);
  void take_extension(unsigned char byte);
  void take_trailer(unsigned char byte);
  void begin_data(size_t num_body_bytes);
  void end_trailer_name();
  void expect(unsigned char byte, unsigned char wanted, Part next);
  void refuse(int status, std::string message, std::string code = "");
  void malformed(std::string_view what);

  HttpLimits limits_;
  ApiError error_;
  Part part_ = Part::size_begin;
  uint64_t left_ = 0;          // bytes of the chunk
  size_t num_line_bytes_ = 0;  // of a chunk's line, or of all trailers
  std::string name_;           // of a trailer, in lower case
};

}  // namespace gainz::host
