#include "template/chat_template.h"

#include <chrono>

#include "template/evaluator.h"
#include "template/json.h"
#include "template/limits.h"
#include "template/parser.h"
#include "template/unicode.h"

namespace gainz {

namespace {

using jinja::Evaluator;
using jinja::Kind;
using jinja::Value;

// The values that a caller gives; a variable may not replace messages and what belongs to them.
void define_inputs(Evaluator& evaluator, const RenderInput& input) {
  if (!input.vars_json.empty()) {
    const Value vars = jinja::read_json(evaluator, input.vars_json, "the template's variables");
    if (evaluator.failed()) return;
    if (!vars.is(Kind::dict)) {
      evaluator.raise("the template's variables must be a JSON object");
      return;
    }
    for (const auto& [key, value] : vars.dict().entries) {
      const std::string& name = key.text().bytes();
      for (const char* taken : {"messages", "tools", "add_generation_prompt", "bos_token", "eos_token"}) {
        if (name == taken) evaluator.raise("the template's variables may not hold '" + name + "'");
      }
      evaluator.define(name, value);
    }
  }
  const Value messages = jinja::read_json(evaluator, input.messages_json, "messages");
  if (!evaluator.failed() && !messages.is(Kind::list)) evaluator.raise("messages must be a JSON array");
  evaluator.define("messages", messages);
  Value tools = Value::none();
  if (!input.tools_json.empty()) {
    tools = jinja::read_json(evaluator, input.tools_json, "tools");
    if (!evaluator.failed() && !tools.is(Kind::list) && !tools.is(Kind::none)) evaluator.raise("tools must be a JSON array");
  }
  evaluator.define("tools", tools);
  evaluator.define("add_generation_prompt", Value::boolean(input.add_generation_prompt));
  evaluator.define("bos_token", evaluator.text(input.bos_token));
  evaluator.define("eos_token", evaluator.text(input.eos_token));
}

}  // namespace

ChatTemplate::ChatTemplate(std::unique_ptr<const jinja::Program> program) : program_(std::move(program)) {}
ChatTemplate::~ChatTemplate() = default;

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::parse(std::string_view source) {
  if (source.size() > jinja::kMaxTemplateBytes) {
    return Status(Code::limit_exceeded, "the chat template has " + std::to_string(source.size()) + " bytes, more than " +
                                            std::to_string(jinja::kMaxTemplateBytes));
  }
  if (!jinja::valid_utf8(source)) return Status(Code::invalid, "the chat template is not valid UTF-8");
  GAINZ_ASSIGN(std::unique_ptr<const jinja::Program> program, jinja::parse_program(source));
  return std::shared_ptr<const ChatTemplate>(new ChatTemplate(std::move(program)));
}

Result<RenderedText> ChatTemplate::render(const RenderInput& input) const {
  if (!jinja::valid_utf8(input.bos_token) || !jinja::valid_utf8(input.eos_token)) {
    return Status(Code::invalid, "the name of a special token is not valid UTF-8");
  }
  Evaluator evaluator(*program_);
  evaluator.now_unix_s = input.now_unix_s.value_or(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  evaluator.define("documents", Value::none());  // transformers passes it, none where there are none
  define_inputs(evaluator, input);
  jinja::Text out;
  if (evaluator.failed() || !evaluator.run(&out)) return evaluator.status();
  RenderedText rendered;
  out.take(&rendered.text, &rendered.user_spans);
  return rendered;
}

}  // namespace gainz
