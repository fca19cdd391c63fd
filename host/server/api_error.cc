#include "server/api_error.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "server/error_text.h"

namespace gainz::host {
namespace {

boost::json::value or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return boost::json::value(valid_utf8(text));
}

// The runtime's sentences about a field begin with its name: "top_k is -1, ...", "the prompt is empty".
std::string field_of(std::string_view sentence) {
  if (sentence.starts_with("the prompt ")) return std::string(kPromptParameter);
  const size_t end = sentence.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  if (end == std::string_view::npos || end == 0) return "";
  const std::string_view rest = sentence.substr(end);
  const bool is_field = sentence.substr(0, end).find('_') != std::string_view::npos || rest.starts_with(" is ") ||
                        rest.starts_with(" has ") || rest.starts_with("[");
  return is_field ? std::string(sentence.substr(0, end)) : "";
}

}  // namespace

ApiError bad_request(std::string parameter, std::string message, std::string code) {
  return {400, std::move(message), "invalid_request_error", std::move(code), std::move(parameter), {}};
}

ApiError not_found(std::string message, std::string code) {
  return {404, std::move(message), "invalid_request_error", std::move(code), "", {}};
}

ApiError of_runtime(gainz_code code, std::string_view sentence) {
  constexpr std::chrono::milliseconds kRetryAfter(1000);
  const std::string text = valid_utf8(sentence);
  switch (code) {
    case GAINZ_INVALID:
    case GAINZ_UNSUPPORTED:
      return bad_request(field_of(text), text);
    case GAINZ_NOT_FOUND:
      return not_found(text);
    case GAINZ_LIMIT_EXCEEDED:
      if (text.find("the prompt has") == std::string::npos) return bad_request(field_of(text), text);
      return bad_request(std::string(kPromptParameter), "This model's maximum context length is exceeded: " + text,
                         "context_length_exceeded");
    case GAINZ_BUSY:
      return {429, text, "rate_limit_error", "server_busy", "", kRetryAfter};
    case GAINZ_OUT_OF_DEVICE_MEMORY:
    case GAINZ_OUT_OF_HOST_MEMORY:
      return {503, text, "server_error", "out_of_memory", "", kRetryAfter};
    case GAINZ_DEVICE_LOST:
      return {503, text, "server_error", "device_lost", "", kRetryAfter};
    case GAINZ_CANCELLED:
      return {503, text, "server_error", "cancelled", "", {}};
    default:
      return {500, text, "server_error", "", "", {}};
  }
}

std::string error_body(ErrorForm form, const ApiError& error) {
  boost::json::object outer;
  if (form == ErrorForm::ollama) {
    outer["error"] = valid_utf8(error.message);
  } else {
    boost::json::object& inner = outer["error"].emplace_object();
    inner["message"] = valid_utf8(error.message);
    inner["type"] = error.type.empty() ? "server_error" : valid_utf8(error.type);
    inner["param"] = or_null(error.parameter);
    inner["code"] = or_null(error.code);
  }
  return json_text(outer);
}

std::string error_event(ErrorForm form, const ApiError& error) {
  const std::string body = error_body(form, error);
  return form == ErrorForm::ollama ? body + "\n" : "data: " + body + "\n\n";
}

ApiError of_runtime(gainz_code code, std::string_view sentence, std::string_view model_id) {
  if (code != GAINZ_NOT_FOUND) return of_runtime(code, sentence);
  return ApiError{503,
                  fmt::format("The model `{}` was unloaded", model_id),
                  "server_error",
                  "model_not_available",
                  "",
                  std::chrono::milliseconds(1000)};
}

}  // namespace gainz::host
