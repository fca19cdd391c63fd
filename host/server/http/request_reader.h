// RequestReader: one request out of bytes, without any input or output of its own: first the head, then the body, chunked or
// not. What it refuses it never keeps. Owner: Connection; one reader a request. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "server/api_error.h"
#include "server/http/limits.h"
#include "server/http_message.h"

namespace gainz::host {

struct RequestFraming {  // what the head says about the connection and the body
  bool is_http_1_0 = false;
  bool keep_alive = true;
  bool is_chunked = false;
  std::optional<uint64_t> content_length;
  bool expects_continue = false;  // never under HTTP/1.0
  bool has_body() const { return is_chunked || content_length.value_or(0) > 0; }
};

class RequestReader {
 public:
  enum class Step : uint8_t {
    need_more,
    head,    // once: request() but for its body, and framing(), are there
    done,    // the body too
    failed,  // see error(); nothing more can be read of this connection
  };

  explicit RequestReader(const HttpLimits& limits);
  ~RequestReader();

  // Takes what it can from the front of `bytes`, which begins where the last call stopped. A part that is not taken must come
  // again with more behind it: at most header_bytes are ever left.
  Step read(std::string_view bytes, size_t& out_taken);
  bool has_begun() const;  // a byte of the request is there

  HttpRequest& request();
  const RequestFraming& framing() const;
  const ApiError& error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gainz::host
