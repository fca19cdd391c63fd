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

// An array of the file. Numbers are kept in their own type; as<T>() converts and fails where a value does not fit.
struct GgufArray {
  uint32_t element_type = 0;                // GGUF value type number
  std::vector<std::string_view> strings;    // element_type 8
  std::span<const std::byte> numbers;       // every other scalar type, little-endian, packed, not aligned
  size_t size = 0;
};

using GgufValue = std::variant<uint64_t, int64_t, double, bool, std::string_view, GgufArray>;

struct GgufTensor {
  std::string_view name;
  uint32_t type = 0;                        // ggml type number, always a known one
  std::vector<uint64_t> dims;               // as in the file: dims[0] is the row length (contiguous); 1 to 4 of them, none zero
  std::span<const std::byte> data;          // inside the file; empty if opened with metadata_only
  uint64_t file_offset = 0;                 // absolute, in its shard
  uint32_t shard = 0;
};

struct GgufOptions {
  bool use_mmap = true;                     // false: tensors are read into memory (for file systems that may fail later)
  bool metadata_only = false;               // key-values alone (tokenizer tests, inspect): tensors may be absent from the file
};

class Gguf {
 public:
  // Errors: not_found, invalid (names key, value, limit, and needed and present sizes), unsupported (tensor type, version), out_of_host_memory.
  static Result<std::shared_ptr<const Gguf>> open(const std::string& path, const GgufOptions& options);
  static Result<std::shared_ptr<const Gguf>> parse(std::span<const std::byte> bytes, const GgufOptions& options);  // one file in memory; a copy is not made
  virtual ~Gguf() = default;

  const std::map<std::string_view, GgufValue>& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor* find_tensor(std::string_view name) const;
  uint64_t size_bytes() const { return size_bytes_; }   // of all shards

  // Typed access. Absent: not_found naming the key (the _or forms give the default). Present with another type or out of the
  // type's range: invalid, naming key, type and value.
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
  Result<std::vector<int64_t>> integers(std::string_view key) const;  // any integer array; a scalar gives one element

 protected:
  Gguf() = default;
  std::map<std::string_view, GgufValue> metadata_;
  std::vector<GgufTensor> tensors_;
  uint64_t size_bytes_ = 0;
};

}  // namespace gainz
