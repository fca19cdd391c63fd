// Gguf: a model file (GGUF version 2 or 3, one file or a split set), checked once and then read-only.
//
// Nothing in a file is believed: every count, size, offset, alignment, nesting depth and key is checked against a stated limit
// (limits.h) and against the file's length before it is used, so that everything reachable from a Gguf is inside the file.
// Source of the format: the GGUF specification in ggml's docs/gguf.md.
//
// Owner: the caller; views (string_view, span, Tensor::data) live as long as the Gguf. Threads: any, once opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace gainz {

// An array of the file. Numbers are kept in their own type; Gguf::floats and Gguf::integers convert and fail where one does not
// fit.
struct GgufArray {
  uint32_t element_type = 0;              // GGUF value type number
  std::vector<std::string_view> strings;  // element_type 8
  std::span<const std::byte>
      numbers;  // every other scalar type, little-endian, packed, not aligned; arrays (9): as in the file
  size_t size = 0;
};

using GgufValue = std::variant<uint64_t, int64_t, double, bool, std::string_view, GgufArray>;

struct GgufTensor {
  std::string_view name;
  uint32_t type = 0;                // ggml type number, always a known one
  std::vector<uint64_t> dims;       // as in the file: dims[0] is the row length (contiguous, whole blocks); 1 to 4, none zero
  std::span<const std::byte> data;  // inside the file; empty if opened with metadata_only
  uint64_t file_offset = 0;         // absolute, in its shard
  uint32_t shard = 0;
};

struct GgufOptions {
  bool use_mmap = true;        // false: tensors are read into memory (for file systems that may fail later)
  bool metadata_only = false;  // tensors are listed without data, which may be absent; of a split model this file alone
};

class Gguf {
 public:
  // Of a split model, path names the first part. A mapped file must not be truncated while it is in use (replacing it is
  // harmless). Errors: not_found, invalid (names key, value, limit, and needed and present sizes), unsupported (tensor type,
  // version), out_of_host_memory. A tensor type that is known but not usable (tensor_type.h) is no error here.
  static Result<std::shared_ptr<const Gguf>> open(const std::string& path, const GgufOptions& options);
  static Result<std::shared_ptr<const Gguf>> parse(std::span<const std::byte> bytes,
                                                   const GgufOptions& options);  // one file in memory; a copy is not made
  virtual ~Gguf() = default;

  const std::map<std::string_view, GgufValue>& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor* find_tensor(std::string_view name) const;
  uint64_t size_bytes() const { return size_bytes_; }  // of all shards

  // Typed access. Floats may be infinite or NaN, as they stand in the file. Absent: not_found naming the key (the _or forms
  // give the default). Present with another type or out of the type's range: invalid, naming key, type and value.
  Result<std::string_view> string(std::string_view key) const;
  Result<uint64_t> u64(std::string_view key) const;
  Result<double> f64(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;
  Result<std::string_view> string_or(std::string_view key, std::string_view otherwise) const;
  Result<uint64_t> u64_or(std::string_view key, uint64_t otherwise) const;
  Result<double> f64_or(std::string_view key, double otherwise) const;
  Result<bool> boolean_or(std::string_view key, bool otherwise) const;
  bool has(std::string_view key) const { return metadata_.contains(key); }
  Result<std::span<const std::string_view>> strings(std::string_view key) const;
  Result<std::vector<float>> floats(std::string_view key) const;      // f32 or f64 arrays only
  Result<std::vector<int64_t>> integers(std::string_view key) const;  // any integer or bool array; an integer gives one element

 protected:
  Gguf() = default;
  std::map<std::string_view, GgufValue> metadata_;
  std::vector<GgufTensor> tensors_;
  std::vector<uint32_t> by_name_;  // indices into tensors_, sorted by name
  uint64_t size_bytes_ = 0;
};

uint64_t gguf_tensor_bytes(const GgufTensor& tensor);  // of a tensor of a Gguf; cannot overflow
std::string_view gguf_value_type_name(uint32_t type);  // "u8" ... "f64"; "unknown"
uint64_t gguf_value_bytes(uint32_t type);              // of a scalar of that type; 0 for strings, arrays and unknown types
std::string gguf_value_text(const GgufValue& value,
                            size_t max_items);  // one line, at most max_items array elements, cut and escaped

}  // namespace gainz
