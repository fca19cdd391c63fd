// Values as text: Python's str(), repr(), % and str.format(). What a user's bytes or numbers become is marked as the user's.
#pragma once

#include <string>

#include "template/session.h"

namespace gainz::jinja {

// False: failed.
bool append_str(Session& session, TextBuilder& out, const Value& value);
bool append_repr(Session& session, TextBuilder& out, const Value& value);
Value to_str(Session& session, const Value& value);  // a text as it is
std::string real_repr(double value);                 // shortest digits that give the number back, in Python's notation
std::string real_fixed(double value, int precision);

// '%s %5.2f %(name)s' % values; docs.python.org, "printf-style String Formatting".
Value format_percent(Session& session, const Text& format, const Value& values);
// '{} {0} {name.key[0]!r:>8}'.format(...); docs.python.org, "Format String Syntax".
Value format_braces(Session& session, const Text& format, const Args& args);

}  // namespace gainz::jinja
