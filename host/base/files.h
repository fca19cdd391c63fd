// Files and folders that the program itself reads: whole small files, and where the user's folders are. Failures name the path
// and the system's reason. Opening never waits (a FIFO is refused) and nothing but a regular file is read. Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gainz::host {

// The process's environment as it was at the start; tests make their own.
using Environment = std::map<std::string, std::string, std::less<>>;
Environment environment_of(char** entries);

// More than max_bytes is a failure that names both sizes.
Result<std::string> read_small_file(const std::string& path, size_t max_bytes);

// XDG Base Directory Specification 0.8: the variable if it is an absolute path, else the folder under HOME; "" if neither is
// known.
std::string user_config_folder(const Environment& environment);
std::string user_cache_folder(const Environment& environment);

// `path` itself if absolute, else under `folder`.
std::string path_under(std::string_view folder, std::string_view path);
std::string folder_of(std::string_view path);  // "." if it has none
std::string base_name(std::string_view path);

}  // namespace gainz::host
