#include "support/gguf_writer.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace gainz::test {

namespace {

size_t padded(size_t size, size_t alignment) { return alignment == 0 ? size : (size + alignment - 1) / alignment * alignment; }

}  // namespace

void append_string(Bytes& out, std::string_view text) {
  append<uint64_t>(out, text.size());
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), first, first + text.size());
}

bool write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return (std::fclose(file) == 0) && written;
}

GgufWriter& GgufWriter::raw(std::string key, uint32_t type, Bytes payload) {
  key_values.push_back({std::move(key), type, std::move(payload)});
  return *this;
}

GgufWriter& GgufWriter::string(std::string key, std::string_view value) {
  Bytes payload;
  append_string(payload, value);
  return raw(std::move(key), kString, std::move(payload));
}

GgufWriter& GgufWriter::strings(std::string key, std::span<const std::string> values) {
  Bytes payload;
  append<uint32_t>(payload, kString);
  append<uint64_t>(payload, values.size());
  for (const std::string& value : values) append_string(payload, value);
  return raw(std::move(key), kArray, std::move(payload));
}

GgufWriter& GgufWriter::alignment(uint32_t value) {
  layout_alignment = value;
  return u32("general.alignment", value);
}

GgufWriter& GgufWriter::remove(std::string_view key) {
  std::erase_if(key_values, [key](const KeyValue& pair) { return pair.key == key; });
  return *this;
}

GgufWriter::Tensor& GgufWriter::tensor(std::string name, uint32_t type, std::vector<uint64_t> dims, Bytes data) {
  tensors.push_back({std::move(name), type, std::move(dims), std::move(data), {}, {}});
  return tensors.back();
}

GgufWriter::Tensor& GgufWriter::tensor_f32(std::string name, std::vector<uint64_t> dims, std::span<const float> values) {
  Bytes data(values.size_bytes());
  if (!data.empty()) std::memcpy(data.data(), values.data(), data.size());
  return tensor(std::move(name), 0, std::move(dims), std::move(data));
}

Bytes GgufWriter::metadata(std::vector<size_t>* out_fields) const {
  Bytes out;
  const auto field = [&] {
    if (out_fields != nullptr) out_fields->push_back(out.size());
  };
  field(), append<uint32_t>(out, magic);
  field(), append<uint32_t>(out, version);
  field(), append<uint64_t>(out, num_tensors.value_or(tensors.size()));
  field(), append<uint64_t>(out, num_key_values.value_or(key_values.size()));
  for (const KeyValue& pair : key_values) {
    field(), append_string(out, pair.key);
    field(), append<uint32_t>(out, pair.type);
    field(), out.insert(out.end(), pair.payload.begin(), pair.payload.end());
  }
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    field(), append_string(out, tensor.name);
    field(), append<uint32_t>(out, tensor.num_dims.value_or(static_cast<uint32_t>(tensor.dims.size())));
    for (const uint64_t dim : tensor.dims) field(), append<uint64_t>(out, dim);
    field(), append<uint32_t>(out, tensor.type);
    field(), append<uint64_t>(out, tensor.offset.value_or(offset));
    offset += padded(tensor.data.size(), layout_alignment);
  }
  return out;
}

size_t GgufWriter::metadata_bytes() const { return metadata(nullptr).size(); }

std::vector<size_t> GgufWriter::field_offsets() const {
  std::vector<size_t> fields;
  metadata(&fields);
  return fields;
}

Bytes GgufWriter::bytes() const {
  Bytes out = metadata(nullptr);
  for (size_t i = 0; i < tensors.size(); ++i) {
    out.resize(padded(out.size(), layout_alignment));
    out.insert(out.end(), tensors[i].data.begin(), tensors[i].data.end());
  }
  if (pad_last && !tensors.empty()) out.resize(padded(out.size(), layout_alignment));
  return out;
}

bool GgufWriter::write(const std::string& path) const { return write_file(path, bytes()); }

std::vector<std::string> GgufWriter::write_split(const std::string& prefix, uint32_t num_shards) const {
  std::vector<std::string> paths;
  for (uint32_t shard = 0; shard < num_shards; ++shard) {
    GgufWriter part;
    part.layout_alignment = layout_alignment;
    if (shard == 0) part.key_values = key_values;
    if (shard != 0 && layout_alignment != 32) part.u32("general.alignment", static_cast<uint32_t>(layout_alignment));
    part.add<uint16_t>("split.no", static_cast<uint16_t>(shard));
    part.add<uint16_t>("split.count", static_cast<uint16_t>(num_shards));
    part.add<int32_t>("split.tensors.count", static_cast<int32_t>(tensors.size()));
    const size_t first = tensors.size() * shard / num_shards, last = tensors.size() * (shard + 1) / num_shards;
    part.tensors.assign(tensors.begin() + first, tensors.begin() + last);
    char suffix[32];
    std::snprintf(suffix, sizeof suffix, "-%05u-of-%05u.gguf", shard + 1, num_shards);
    paths.push_back(prefix + suffix);
    if (!part.write(paths.back())) return {};
  }
  return paths;
}

}  // namespace gainz::test
