// Reads a TOML configuration file into settings. The file is checked whole: unknown keys (with the likely spelling or the right
// section), wrong types and ranges, duplicates; every mistake is one line "PATH:LINE: ...". Hostile text is fine. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"

namespace gainz::host {

inline constexpr size_t kMaxConfigBytes = 1 << 20;
inline constexpr size_t kMaxMistakes = 20;    // more are counted, not shown
inline constexpr size_t kMaxModels = 256;     // [[model]] entries
inline constexpr size_t kMaxDotsInLine = 64;  // dots outside of comments; dotted keys nest, and the parser recurses

Outcome read_config_file(const std::string& path, Settings& out_settings);
// `path` is for messages and, by its folder, for relative paths in the text.
Outcome parse_config(std::string_view text, const std::string& path, Settings& out_settings);

}  // namespace gainz::host
