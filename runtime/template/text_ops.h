// Python's str operations on Text, which filters and methods share. Origin follows every byte. Failures go to the session.
#pragma once

#include <vector>

#include "template/session.h"

namespace gainz::jinja {

enum class Case : uint8_t { upper, lower, swap, capitalize, title };

// Characters of `chars` (null: white space) from the ends.
Text strip(const Text& text, const Text* chars, bool left, bool right);
Value change_case(Session& session, const Text& text, Case how);
// max_count < 0: all.
Value replace_all(Session& session, const Text& text, const Text& from, const Text& to, int64_t max_count);
std::vector<Text> split_lines(Session& session, const Text& text, bool keep_ends);
Value pad_center(Session& session, const Text& text, int64_t width, const Text& fill);
Value join_texts(Session& session, const Text& separator, const std::vector<Value>& items);
Value indent_lines(Session& session, const Text& text, const Text& indent, bool first, bool blank);
Value texts(Session& session, std::vector<Text> parts, Kind kind = Kind::list);
Text lower_key(Session& session, const Text& text);

}  // namespace gainz::jinja
