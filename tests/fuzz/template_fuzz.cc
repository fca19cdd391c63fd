// Input: a chat template, then (after the first NUL byte) the messages as JSON. Parses both and renders, twice, with and
// without a generation prompt; spans must be sorted, disjoint and inside the text.
#include <cstdlib>
#include <string_view>

#include "template/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = input.find('\0');
  const auto parsed = gainz::ChatTemplate::parse(input.substr(0, cut));
  if (!parsed.ok()) return 0;
  gainz::RenderInput request;
  request.messages_json =
      cut == std::string_view::npos ? std::string_view(R"([{"role": "user", "content": "Hi <|x|>"}])") : input.substr(cut + 1);
  request.tools_json = R"([{"type": "function", "function": {"name": "f", "parameters": {"a": [1, 2.5, null]}}}])";
  request.bos_token = "<s>";
  request.now_unix_s = 0;
  for (const bool add : {false, true}) {
    request.add_generation_prompt = add;
    const auto result = parsed.value()->render(request);
    if (!result.ok()) continue;
    size_t end = 0;
    for (const auto& span : result.value().user_spans) {
      if (span.first >= span.second || (end != 0 && span.first <= end) || span.second > result.value().text.size())
        std::abort();
      end = span.second;
    }
  }
  return 0;
}
