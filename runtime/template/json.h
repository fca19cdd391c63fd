// JSON in (messages, tools, variables: every string, key and number becomes the user's) and out (Python's json.dumps).
#pragma once

#include <string_view>

#include "template/session.h"

namespace gainz::jinja {

// RFC 8259 plus Python's NaN and Infinity not; a key that stands twice, invalid UTF-8, a lone surrogate and a number beyond 64
// bits are errors, depth is limited to kMaxValueDepth. `what` names the input in messages ("messages"). Fails the session.
Value read_json(Session& session, std::string_view json, const char* what);

struct JsonStyle {
  bool ascii = false;  // \u for all beyond ASCII
  bool has_indent = false;
  Text indent;  // per level
  Text item_separator{std::string(", ")};
  Text key_separator{std::string(": ")};
  bool sort_keys = false;
};
Value write_json(Session& session, const Value& value, const JsonStyle& style);

}  // namespace gainz::jinja
