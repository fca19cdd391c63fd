// One field of a format: how wide, how aligned, which notation. Shared by % and str.format().
#pragma once

#include <string>
#include <string_view>

#include "template/session.h"

namespace gainz::jinja {

struct FormatSpec {
  std::string fill = " ";
  char align = 0;   // < > ^ =; 0: the type's own
  char sign = '-';  // + - or blank
  bool alternate = false;
  char grouping = 0;  // , or _
  uint64_t width = 0;
  int precision = -1;
  char type = 0;  // s d b o x X e E f F g G % c; 0: the value's own
};

// "[[fill]align][sign][#][0][width][grouping][.precision][type]". False: failed.
bool parse_spec(Session& session, std::string_view text, FormatSpec* out);
// Appends the value so formatted; fails the session when the type does not fit the value. A text's bytes keep their origin.
bool append_formatted(Session& session, TextBuilder& out, const Value& value, const FormatSpec& spec);

}  // namespace gainz::jinja
