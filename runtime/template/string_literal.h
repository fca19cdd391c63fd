// The escapes of a string literal, as Python's unicode-escape codec reads them. Pure function.
#pragma once

#include <string>
#include <string_view>

namespace gainz::jinja {

// `body`: valid UTF-8 between the quotes. False: *out_problem says why. Lone surrogates and \N{...} are refused.
bool unescape_string(std::string_view body, std::string* out, std::string* out_problem);

}  // namespace gainz::jinja
