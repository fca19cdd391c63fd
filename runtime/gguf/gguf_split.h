// Split models: the name of each part, and whether a part belongs to the first. Inside this folder only.
// Source: the split.* keys and file names that llama.cpp's gguf-split and gguf-py write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "gguf/gguf_parser.h"

namespace gainz {

struct SplitInfo {
  uint64_t number = 0;  // of this part, from 0
  uint64_t count = 0;   // of parts; 0 and 1: one file
  bool has_num_tensors = false;
  uint64_t num_tensors = 0;  // of all parts together
};

// Errors: invalid (wrong type, number not below count, too many parts).
Result<SplitInfo> read_split_info(const std::string& name, const ParsedGguf& file);

// "dir/NAME-00003-of-00005.gguf" from the first part's path. Errors: invalid where that path is not "...-00001-of-0000N.gguf".
Result<std::string> shard_path(const std::string& first, uint64_t number, uint64_t count);

// Errors: invalid, where the part says another number, count or total than expected, or has a key that differs from the first
// part's.
Status check_shard(const std::string& name, const ParsedGguf& file, const ParsedGguf& first, const SplitInfo& first_info,
                   uint64_t number);

}  // namespace gainz
