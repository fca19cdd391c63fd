// GgufWriter: makes GGUF files for tests, in memory or on disk, well-formed or deliberately broken.
//
// A test adds key-values and tensors in the order in which the file shall hold them. Nothing is checked, and every count,
// offset and number of dimensions can be overridden, so that each hostile kind of file is one line. Little-endian machines
// only. Owner: the caller. Threads: one at a time. Format: the GGUF specification in ggml's docs/gguf.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gainz::test {

using Bytes = std::vector<std::byte>;

// GGUF value type numbers.
enum : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12
};

template <class T>
constexpr uint32_t gguf_type_of() {
  if constexpr (std::is_same_v<T, bool>) return kBool;
  if constexpr (std::is_same_v<T, float>) return kF32;
  if constexpr (std::is_same_v<T, double>) return kF64;
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return is_signed ? kI8 : kU8;
  if constexpr (sizeof(T) == 2) return is_signed ? kI16 : kU16;
  if constexpr (sizeof(T) == 4) return is_signed ? kI32 : kU32;
  return is_signed ? kI64 : kU64;
}

template <class T>
void append(Bytes& out, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), first, first + sizeof(T));
}
void append_string(Bytes& out, std::string_view text);  // 64-bit length, then the bytes

class GgufWriter {
 public:
  struct KeyValue {
    std::string key;
    uint32_t type = 0;
    Bytes payload;
  };
  struct Tensor {
    std::string name;
    uint32_t type = 0;           // ggml type number
    std::vector<uint64_t> dims;  // dims[0] is the row length
    Bytes data;
    std::optional<uint64_t> offset;    // overrides the offset that is written; the data stays where it is
    std::optional<uint32_t> num_dims;  // overrides the number that is written
  };

  // What the file says; change to corrupt.
  uint32_t magic = 0x46554747;  // "GGUF"
  uint32_t version = 3;
  uint64_t layout_alignment = 32;                       // where data is put; alignment() sets this and the key
  bool pad_last = true;                                 // zero bytes after the last tensor up to the alignment
  std::optional<uint64_t> num_tensors, num_key_values;  // override the counts in the header
  std::vector<KeyValue> key_values;
  std::vector<Tensor> tensors;

  // One key-value of the C++ type's GGUF type: add<uint32_t>("k", 1), add<bool>(...), add<float>(...).
  template <class T>
  GgufWriter& add(std::string key, std::type_identity_t<T> value) {
    Bytes payload;
    append<T>(payload, value);
    return raw(std::move(key), gguf_type_of<T>(), std::move(payload));
  }
  GgufWriter& u32(std::string key, uint32_t value) { return add<uint32_t>(std::move(key), value); }
  GgufWriter& f32(std::string key, float value) { return add<float>(std::move(key), value); }
  GgufWriter& boolean(std::string key, bool value) { return add<bool>(std::move(key), value); }
  GgufWriter& string(std::string key, std::string_view value);
  GgufWriter& strings(std::string key, std::span<const std::string> values);
  template <class T>
  GgufWriter& array(std::string key, const std::vector<T>& values) {  // numbers and bool
    Bytes payload;
    append<uint32_t>(payload, gguf_type_of<T>());
    append<uint64_t>(payload, values.size());
    for (const T value : values) append<T>(payload, value);
    return raw(std::move(key), kArray, std::move(payload));
  }
  GgufWriter& raw(std::string key, uint32_t type, Bytes payload);  // payload: what follows the type number
  GgufWriter& alignment(uint32_t value);                           // writes general.alignment and lays out by it
  Tensor& tensor(std::string name, uint32_t type, std::vector<uint64_t> dims, Bytes data);
  Tensor& tensor_f32(std::string name, std::vector<uint64_t> dims, std::span<const float> values);
  GgufWriter& remove(std::string_view key);  // to leave out or replace a key of a ready-made model

  Bytes bytes() const;
  size_t metadata_bytes() const;              // up to the end of the tensor infos, without padding
  std::vector<size_t> field_offsets() const;  // where each field of header, key-values and tensor infos begins, rising
  bool write(const std::string& path) const;  // false if the file cannot be written

  // Writes prefix-00001-of-0000N.gguf and so on: all key-values in the first, tensors dealt out in order. Gives the paths.
  std::vector<std::string> write_split(const std::string& prefix, uint32_t num_shards) const;

 private:
  Bytes metadata(std::vector<size_t>* out_fields) const;
};

bool write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace gainz::test
