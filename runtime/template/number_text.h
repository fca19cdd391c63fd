// Python's int(text, base) and float(text). Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace gainz::jinja {

enum class Parsed : uint8_t { good, bad, too_large };
Parsed parse_integer(std::string_view text, int64_t base, int64_t* out);
bool parse_real(std::string_view text, double* out);

}  // namespace gainz::jinja
