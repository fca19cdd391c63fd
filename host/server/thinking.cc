#include "server/thinking.h"

#include <algorithm>
#include <optional>

namespace gainz::host {
namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>";
constexpr std::string_view kBlanks = " \t\r\n";

// How many bytes at the end of `text` could be the beginning of `tag`.
size_t possible_tag(std::string_view text, std::string_view tag) {
  for (size_t n = std::min(text.size(), tag.size() - 1); n > 0; --n) {
    if (text.substr(text.size() - n) == tag.substr(0, n)) return n;
  }
  return 0;
}

size_t leading_blanks(std::string_view text) { return std::min(text.find_first_not_of(kBlanks), text.size()); }

constexpr const char* kQuestion = R"([{"role":"user","content":"?"}])";
constexpr std::string_view kThought = "gainz-thought";
constexpr const char* kThoughtful = R"([{"role":"user","content":"?"},
  {"role":"assistant","content":"<think>gainz-thought</think>!"},{"role":"user","content":"?"}])";

// Nothing: the template refuses it.
std::optional<std::string> sample_prompt(gainz_runtime* runtime, gainz_model_id model, const char* messages,
                                         const char* vars_json) {
  char* text = nullptr;
  size_t num_bytes = 0;
  if (gainz_apply_template(runtime, model, messages, nullptr, vars_json, 1, &text, &num_bytes, nullptr, 0) != GAINZ_OK)
    return std::nullopt;
  std::string out(text, num_bytes);
  gainz_free(runtime, text);
  return out;
}

}  // namespace

bool Thinking::step(ThoughtPiece& out) {
  switch (state_) {
    case State::begin: {  // blanks, then perhaps the tag
      const std::string_view rest = std::string_view(held_).substr(leading_blanks(held_));
      if (rest.starts_with(kOpen)) {
        held_.erase(0, held_.size() - rest.size() + kOpen.size());
        state_ = State::inside_begin;
        return true;
      }
      if (kOpen.starts_with(rest)) return false;
      state_ = State::content;
      return true;
    }
    case State::inside_begin:
    case State::content_begin: {
      held_.erase(0, leading_blanks(held_));
      if (held_.empty()) return false;
      state_ = state_ == State::inside_begin ? State::inside : State::content;
      return true;
    }
    case State::inside: {
      const size_t end = held_.find(kClose);
      if (end != std::string::npos) {
        std::string_view before = std::string_view(held_).substr(0, end);
        before = before.substr(0, before.find_last_not_of(kBlanks) + 1);
        out.reasoning += before;
        held_.erase(0, end + kClose.size());
        state_ = State::content_begin;
        return true;
      }
      // Blanks before a tag that may come are held back too.
      std::string_view sure = std::string_view(held_).substr(0, held_.size() - possible_tag(held_, kClose));
      sure = sure.substr(0, sure.find_last_not_of(kBlanks) + 1);
      out.reasoning += sure;
      held_.erase(0, sure.size());
      return false;
    }
    case State::content:
      out.content += held_;
      held_.clear();
      return false;
  }
  return false;
}

ThoughtPiece Thinking::add(std::string_view text) {
  ThoughtPiece out;
  if (state_ == State::content) {
    out.content = text;
    return out;
  }
  held_ += text;
  while (step(out)) {
  }
  return out;
}

ThoughtPiece Thinking::finish() {
  ThoughtPiece out;
  (is_inside() ? out.reasoning : out.content) = std::move(held_);
  held_.clear();
  return out;
}

bool template_opens_thinking(gainz_runtime* runtime, gainz_model_id model, const char* vars_json) {
  std::string_view text;
  const std::optional<std::string> rendered = sample_prompt(runtime, model, kQuestion, vars_json);
  if (rendered) text = *rendered;
  return text.substr(0, text.find_last_not_of(kBlanks) + 1).ends_with(kOpen);
}

bool template_can_think(gainz_runtime* runtime, gainz_model_id model) {
  const auto with = [&](const char* vars_json) { return sample_prompt(runtime, model, kQuestion, vars_json); };
  if (with(R"({"enable_thinking":true})") != with(R"({"enable_thinking":false})")) return true;
  if (with(R"({"reasoning_effort":"high"})") != with(R"({"reasoning_effort":"low"})")) return true;
  const std::optional<std::string> thoughtful = sample_prompt(runtime, model, kThoughtful, nullptr);
  return thoughtful && thoughtful->find(kThought) == std::string::npos;
}

}  // namespace gainz::host
