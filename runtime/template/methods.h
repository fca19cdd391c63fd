// Methods of Python's str, dict, list and tuple, and of Jinja's loops and cyclers. Those that change a dict or list are left
// out, as the immutable sandbox refuses them.
#pragma once

#include <string_view>

#include "template/session.h"

namespace gainz::jinja {

bool has_method(const Value& self, std::string_view name);
// REQUIRES: has_method.
Value call_method(Session& session, const Value& self, std::string_view name, Args& args);

using Method = Value (*)(Session&, const Value& self, Args& args);
// Null: no such name.
Method find_text_method(std::string_view name);
Method find_text_predicate(std::string_view name);

}  // namespace gainz::jinja
