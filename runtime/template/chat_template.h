// A model's chat template: Jinja source in, a prompt out, with the byte ranges that came from message values. The language is
// Jinja2 as transformers sets it up: immutable sandbox, trim_blocks, lstrip_blocks, loop controls, {% generation %}, tojson,
// raise_exception, strftime_now. Autoescape is off. A ChatTemplate is immutable: any number of threads may render it at once,
// each with its own values. Stacks of 256 KiB are enough; template/limits.h names every limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace gainz {

struct RenderedText {
  std::string text;                                   // UTF-8
  std::vector<std::pair<size_t, size_t>> user_spans;  // [begin, end) bytes of text, sorted, disjoint, not touching
};

struct RenderInput {
  std::string_view messages_json;  // JSON array; every string, key and number inside is user text
  std::string_view tools_json;     // JSON array, or empty: `tools` is none; user text as well
  std::string_view vars_json;      // JSON object of further variables, or empty; user text
  bool add_generation_prompt = false;
  std::string_view bos_token, eos_token;  // trusted
  std::optional<int64_t> now_unix_s;      // for strftime_now, UTC; absent: the clock
};

namespace jinja {
struct Program;
}

class ChatTemplate {
 public:
  // Errors: invalid (a syntax error, names the line), limit_exceeded.
  static Result<std::shared_ptr<const ChatTemplate>> parse(std::string_view source);

  // Errors: invalid (raise_exception's own sentence; else what Jinja would refuse, with the line; or bad JSON), limit_exceeded.
  // Only std::bad_alloc is thrown.
  Result<RenderedText> render(const RenderInput& input) const;

  ~ChatTemplate();

 private:
  explicit ChatTemplate(std::unique_ptr<const jinja::Program> program);
  std::unique_ptr<const jinja::Program> program_;
};

}  // namespace gainz
