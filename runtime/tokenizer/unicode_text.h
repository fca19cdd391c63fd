// Unicode normalisation and character classes that tokenizers ask for, over utf8proc. Linear time (n log n for a run of
// combining marks). Pure functions, any thread. Source: Unicode Standard Annex 15.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gainz::unicode {

// REQUIRES: `text` is valid UTF-8.
std::string nfc(std::string_view text);
std::vector<int32_t> nfd_code_points(std::string_view text);

bool is_nonspacing_mark(int32_t code_point);  // Mn
bool is_punctuation(int32_t code_point);      // P*
bool is_other(int32_t code_point);            // Cc, Cf, Co
bool is_white_space(int32_t code_point);      // the White_Space property
int32_t to_lower(int32_t code_point);         // simple mapping

}  // namespace gainz::unicode
