// ApiError: why a request is refused or failed, before it has a wire form. Thrown by handlers and by what they call; the
// connection catches it in one place and writes it in the words of the route's API (OpenAI's object, Ollama's string). Value
// type.
#pragma once

#include <gainz/gainz.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace gainz::host {

struct ApiError {
  int status = 500;       // HTTP
  std::string message;    // one sentence, valid UTF-8
  std::string type;       // invalid_request_error, authentication_error, rate_limit_error, server_error
  std::string code;       // "" or a word for programs: context_length_exceeded
  std::string parameter;  // "" or the field's name: "messages[2].content"
  std::optional<std::chrono::milliseconds> retry_after;  // becomes retry-after and retry-after-ms
};

ApiError bad_request(std::string parameter, std::string message, std::string code = "");
ApiError not_found(std::string message, std::string code = "");
// The parameter of errors about the prompt that come from the runtime, which does not know what a route calls it.
inline constexpr std::string_view kPromptParameter = "prompt";
// A status of the runtime: INVALID and UNSUPPORTED 400, LIMIT_EXCEEDED of a prompt 400 context_length_exceeded with "maximum
// context length" in it, BUSY 429, memory and device 503, else 500.
ApiError of_runtime(gainz_code code, std::string_view sentence);
// The same of a call about a model that was there a moment ago: NOT_FOUND 503, it was unloaded since.
ApiError of_runtime(gainz_code code, std::string_view sentence, std::string_view model_id);

}  // namespace gainz::host
