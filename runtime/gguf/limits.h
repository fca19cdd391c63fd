// What the GGUF reader accepts at most. Real files stay far below each limit; a file that crosses one is refused by name and
// value. With these, parsing needs less memory than the file's size plus 64 MiB, whatever the file declares.
#pragma once

#include <cstdint>
#include <string_view>

namespace gainz {

inline constexpr uint64_t kGgufMaxKeyValues = 65536;
inline constexpr uint64_t kGgufMaxTensors = 65536;
inline constexpr uint64_t kGgufMaxKeyBytes = 65535;  // the specification's own
inline constexpr uint64_t kGgufMaxTensorNameBytes = 255;
inline constexpr uint64_t kGgufMaxStringBytes = uint64_t{1} << 28;    // one string value
inline constexpr uint64_t kGgufMaxStrings = uint64_t{1} << 21;        // elements of all string arrays of a file
inline constexpr uint64_t kGgufMaxArrayElements = uint64_t{1} << 24;  // of one array of any type
inline constexpr uint64_t kGgufMaxArrayDepth = 4;                     // arrays within arrays, the outermost counted
inline constexpr uint64_t kGgufMaxDims = 4;
inline constexpr uint64_t kGgufMaxTensorElements = uint64_t{1} << 48;
inline constexpr uint64_t kGgufMinAlignment = 8;                  // a power of two from this ...
inline constexpr uint64_t kGgufMaxAlignment = uint64_t{1} << 20;  // ... to this
inline constexpr uint64_t kGgufMaxShards = 1024;

struct GgufLimit {
  std::string_view name;
  uint64_t value;
};

// Every limit above, by name, for those who print them.
inline constexpr GgufLimit kGgufLimits[] = {
    {"gguf_max_key_values", kGgufMaxKeyValues},
    {"gguf_max_tensors", kGgufMaxTensors},
    {"gguf_max_key_bytes", kGgufMaxKeyBytes},
    {"gguf_max_tensor_name_bytes", kGgufMaxTensorNameBytes},
    {"gguf_max_string_bytes", kGgufMaxStringBytes},
    {"gguf_max_strings", kGgufMaxStrings},
    {"gguf_max_array_elements", kGgufMaxArrayElements},
    {"gguf_max_array_depth", kGgufMaxArrayDepth},
    {"gguf_max_dims", kGgufMaxDims},
    {"gguf_max_tensor_elements", kGgufMaxTensorElements},
    {"gguf_min_alignment", kGgufMinAlignment},
    {"gguf_max_alignment", kGgufMaxAlignment},
    {"gguf_max_shards", kGgufMaxShards},
};

}  // namespace gainz
