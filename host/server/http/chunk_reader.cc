#include "server/http/chunk_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/http/head_scanner.h"

namespace gainz::host {
namespace {

int hex_digit(unsigned char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_blank(unsigned char c) { return c == ' ' || c == '\t'; }
bool is_control(unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; }

}  // namespace

void ChunkReader::refuse(int status, std::string message, std::string code) {
  error_ = {status, std::move(message), "invalid_request_error", std::move(code), "", {}};
  part_ = Part::failed;
}

void ChunkReader::malformed(std::string_view what) {
  refuse(400, fmt::format("the chunks of the body are malformed: {}", what));
}

void ChunkReader::expect(unsigned char byte, unsigned char wanted, Part next) {
  if (byte == wanted) {
    part_ = next;
  } else {
    malformed("CR LF must end each line and each chunk");
  }
}

void ChunkReader::take_size(unsigned char byte) {
  const int digit = hex_digit(byte);
  if (part_ == Part::size_begin || (part_ == Part::size && digit >= 0)) {
    if (digit < 0) return malformed("a chunk must begin with its size in hexadecimal digits");
    if (left_ >> 60 != 0) return malformed("the size of a chunk does not fit into 64 bits");
    left_ = left_ * 16 + static_cast<uint64_t>(digit);
    part_ = Part::size;
  } else if (byte == ';') {
    part_ = Part::name_begin;
  } else if (is_blank(byte)) {
    part_ = Part::blanks;
  } else if (byte == '\r' && part_ == Part::size) {
    part_ = Part::line_feed;
  } else {
    malformed("a size must be followed by CR LF or by a semicolon");
  }
}

void ChunkReader::take_extension(unsigned char byte) {
  if (is_control(byte) && !(byte == '\r' && part_ == Part::extension)) return malformed("an extension has a control character");
  switch (part_) {
    case Part::name_begin:
      if (is_blank(byte)) return;
      if (!is_token_char(byte)) return malformed("an extension has no name");
      part_ = Part::extension;
      return;
    case Part::extension:
      if (byte == '\r') part_ = Part::line_feed;
      if (byte == ';') part_ = Part::name_begin;
      if (byte == '"') part_ = Part::quoted;
      return;
    case Part::quoted:
      if (byte == '"') part_ = Part::extension;
      if (byte == '\\') part_ = Part::escaped;
      return;
    default:
      part_ = Part::quoted;
  }
}

void ChunkReader::begin_data(size_t num_body_bytes) {
  num_line_bytes_ = 0;
  if (left_ == 0) {
    part_ = Part::trailer_begin;
  } else if (left_ > limits_.body_bytes - std::min(num_body_bytes, limits_.body_bytes)) {
    refuse(413, fmt::format("the body is longer than {} bytes", limits_.body_bytes), "body_too_large");
  } else {
    part_ = Part::data;
  }
}

void ChunkReader::end_trailer_name() {
  if (name_ == "content-length" || name_ == "transfer-encoding") return malformed("a trailer says how long the body is");
  name_.clear();
  part_ = Part::trailer_value;
}

void ChunkReader::take_trailer(unsigned char byte) {
  switch (part_) {
    case Part::trailer_begin:
    case Part::trailer_name:
      if (byte == '\r' && part_ == Part::trailer_begin) {
        part_ = Part::last_feed;
      } else if (byte == ':' && part_ == Part::trailer_name) {
        end_trailer_name();
      } else if (is_token_char(byte)) {
        name_ += static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
        part_ = Part::trailer_name;
      } else {
        malformed("the name of a trailer");
      }
      return;
    default:
      if (byte == '\r') {
        part_ = Part::trailer_feed;
      } else if (is_control(byte)) {
        malformed("a trailer has a control character");
      }
  }
}

void ChunkReader::take(unsigned char byte, size_t num_body_bytes) {
  switch (part_) {
    case Part::size_begin:
    case Part::size:
    case Part::blanks:
      return take_size(byte);
    case Part::name_begin:
    case Part::extension:
    case Part::quoted:
    case Part::escaped:
      return take_extension(byte);
    case Part::line_feed:
      expect(byte, '\n', Part::data);
      if (part_ == Part::data) begin_data(num_body_bytes);
      return;
    case Part::data_return:
      return expect(byte, '\r', Part::data_feed);
    case Part::data_feed:
      return expect(byte, '\n', Part::size_begin);
    case Part::trailer_feed:
      return expect(byte, '\n', Part::trailer_begin);
    case Part::last_feed:
      return expect(byte, '\n', Part::done);
    default:
      return take_trailer(byte);
  }
}

ChunkReader::Step ChunkReader::read(std::string_view bytes, size_t& out_taken, std::string& out_body) {
  out_taken = 0;
  while (out_taken < bytes.size() && part_ != Part::done && part_ != Part::failed) {
    if (part_ == Part::data) {
      const std::string_view piece = bytes.substr(out_taken, static_cast<size_t>(std::min<uint64_t>(left_, bytes.size())));
      out_body.append(piece);
      out_taken += piece.size();
      left_ -= piece.size();
      if (left_ == 0) part_ = Part::data_return;
    } else if (++num_line_bytes_ > limits_.header_bytes) {
      refuse(431, fmt::format("the line of a chunk or the trailers are longer than {} bytes", limits_.header_bytes));
    } else {
      take(static_cast<unsigned char>(bytes[out_taken]), out_body.size());
      out_taken += part_ != Part::failed;
    }
  }
  if (part_ == Part::failed) return Step::failed;
  return part_ == Part::done ? Step::done : Step::need_more;
}

}  // namespace gainz::host
