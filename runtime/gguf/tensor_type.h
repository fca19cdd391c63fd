// TensorType: the tensor types of GGUF files, by number, with their block sizes, and which of them this runtime can compute
// with. Constant data; any thread. Source: ggml's enumeration of types and its block definitions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gainz {

struct TensorType {
  uint32_t number = 0;          // as in the file
  std::string_view name;        // "Q4_K"
  uint32_t block_elements = 0;  // a row is a whole number of blocks
  uint32_t block_bytes = 0;
  bool usable = false;  // false: can be listed, not loaded
};

std::span<const TensorType> tensor_types();                 // by rising number
const TensorType* find_tensor_type(uint32_t number);        // null: no such type
const TensorType* find_tensor_type(std::string_view name);  // null: no such type
std::string_view removed_tensor_type(uint32_t number);      // name of a type that the format once had; empty: none

}  // namespace gainz
