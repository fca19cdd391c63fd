// Fuzzes the JSON bodies of the API: the first byte chooses the route, the rest is the body. Whatever is wrong is an ApiError
// 400 whose body is JSON in UTF-8, in both forms; whatever is right is what the handlers take.
#include <boost/json.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/api/chat_request.h"
#include "server/api/embedding_request.h"
#include "server/api/json_fields.h"
#include "server/api_error.h"
#include "server/http/response_head.h"

namespace {

using gainz::host::ErrorForm;
using gainz::host::GenerationRequest;
namespace json = boost::json;

constexpr size_t kMaxDepth = 64;  // [server].max_json_depth

void check(bool holds) {
  if (!holds) std::abort();
}

void check_generation(const GenerationRequest& request) {
  check(!request.prompt_ids.empty() + request.prompt.has_value() + request.messages_json.has_value() <= 1);
  for (const auto& text : {request.messages_json, request.tools_json, request.vars_json}) {
    boost::system::error_code error;
    if (text) json::parse(*text, error);
    check(!error);
  }
  check(std::isfinite(request.sampling.temperature) && std::isfinite(request.sampling.top_p));
  for (const std::string& stop : request.stop) check(!stop.empty() && stop.find('\0') == std::string::npos);
  for (const gainz_logit_bias& bias : request.logit_bias) check(std::isfinite(bias.bias));
}

void read(uint8_t route, const json::object& body) {
  static const gainz::host::Settings settings;
  if (route % 3 == 0) {
    const auto request = gainz::host::read_chat_request(body, settings);
    check(request.num_choices > 0 && request.generation.messages_json.has_value());
    check_generation(request.generation);
  } else if (route % 3 == 1) {
    const auto request = gainz::host::read_completion_request(body, settings);
    check(request.num_choices > 0 && !request.prompts.empty());
    for (const GenerationRequest& generation : request.prompts) check_generation(generation);
  } else {
    gainz::host::JsonFields fields(body);
    for (const GenerationRequest& generation : read_embedding_inputs(fields, "input")) check_generation(generation);
    fields.integer("dimensions", 1, 1 << 24);
    fields.choice("encoding_format", {"float", "base64"});
    fields.finish();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    read(data[0], gainz::host::parse_body({reinterpret_cast<const char*>(data) + 1, size - 1}, kMaxDepth));
  } catch (const gainz::host::ApiError& error) {
    check(error.status == 400 && !error.message.empty());
    for (const ErrorForm form : {ErrorForm::openai, ErrorForm::ollama}) {
      boost::system::error_code why;
      json::parse(error_response(form, error).body, why);  // refuses invalid UTF-8 too
      check(!why);
    }
  }
  return 0;
}
