// Short ways to parse and render in tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "template/chat_template.h"

namespace gainz {

struct RenderOptions {
  std::string messages = "[]";
  std::string tools;
  std::string vars;
  bool add_generation_prompt = false;
};

inline Result<RenderedText> render(std::string_view source, const RenderOptions& options = {}) {
  GAINZ_ASSIGN(const std::shared_ptr<const ChatTemplate> chat_template, ChatTemplate::parse(source));
  RenderInput input;
  input.messages_json = options.messages;
  input.tools_json = options.tools;
  input.vars_json = options.vars;
  input.add_generation_prompt = options.add_generation_prompt;
  input.bos_token = "<s>";
  input.eos_token = "</s>";
  input.now_unix_s = 1767323045;  // 2026-01-02 03:04:05 UTC
  return chat_template->render(input);
}

// The text, or the error's message in brackets.
inline std::string rendered(std::string_view source, const RenderOptions& options = {}) {
  const Result<RenderedText> result = render(source, options);
  return result.ok() ? result.value().text : "[" + result.status().message() + "]";
}

}  // namespace gainz
