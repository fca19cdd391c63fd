// Thinking: tells the reasoning of a model from its answer: text between <think> at the very beginning and </think>. The tags,
// and the blanks around them, belong to neither. Works on pieces of any size; a tag may be cut anywhere. One thread.
#pragma once

#include <gainz/gainz.h>

#include <string>
#include <string_view>

namespace gainz::host {

struct ThoughtPiece {
  std::string reasoning, content;
};

class Thinking {
 public:
  // is_inside: the prompt ends with <think>, so that the answer begins with reasoning.
  explicit Thinking(bool is_inside = false) : state_(is_inside ? State::inside_begin : State::begin) {}

  ThoughtPiece add(std::string_view text);
  ThoughtPiece finish();  // what was held back because it could have become a tag
  // Whether the text so far ends inside the reasoning.
  bool is_inside() const { return state_ == State::inside || state_ == State::inside_begin; }

 private:
  enum class State : uint8_t { begin, inside_begin, inside, content_begin, content };
  bool step(ThoughtPiece& out);  // false: more text is needed

  State state_;
  std::string held_;
};

// Whether the model's chat template, with these variables (JSON; nullptr: none), ends the prompt with an open <think>. Renders
// a short chat: on a worker.
bool template_opens_thinking(gainz_runtime* runtime, gainz_model_id model, const char* vars_json);
// Whether it knows of reasoning: enable_thinking or reasoning_effort changes the prompt, or earlier reasoning is left out.
// Renders some short chats: on a worker.
bool template_can_think(gainz_runtime* runtime, gainz_model_id model);

}  // namespace gainz::host
