// UTF-8 and the character classes of Python's str, from utf8proc's tables. Pure functions; any thread. Inputs are valid UTF-8
// (checked at the borders by valid_utf8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gainz::jinja {

bool valid_utf8(std::string_view bytes);
char32_t decode_at(std::string_view bytes, size_t at, size_t* out_next);  // at < size
void encode(char32_t c, std::string* out);
size_t num_chars(std::string_view bytes);
size_t byte_of_char(std::string_view bytes, size_t index);  // size() when index is past the end
size_t previous_char(std::string_view bytes, size_t at);    // begin of the character that ends at `at` > 0

bool is_space(char32_t c);       // str.isspace
bool is_line_break(char32_t c);  // str.splitlines
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_alnum(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);
bool is_printable(char32_t c);
char32_t to_upper(char32_t c);
char32_t to_lower(char32_t c);
char32_t to_title(char32_t c);

}  // namespace gainz::jinja
