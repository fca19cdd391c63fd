// Fuzzes the GGUF reader: opens a file in memory and then uses all that it offers, with every accessor, so that a view that
// points outside the file is found by the sanitizer.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gguf/gguf.h"

namespace {

uint64_t g_sum = 0;  // keeps the reads alive

void use_keys(const gainz::Gguf& gguf) {
  for (const auto& [key, value] : gguf.metadata()) {
    g_sum += gguf.string(key).ok() + gguf.u64(key).ok() + gguf.f64(key).ok() + gguf.boolean(key).ok();
    g_sum +=
        gguf.string_or(key, "").ok() + gguf.u64_or(key, 1).ok() + gguf.f64_or(key, 1).ok() + gguf.boolean_or(key, true).ok();
    if (const auto texts = gguf.strings(key); texts.ok()) {
      for (const std::string_view text : *texts) {
        for (const char c : text) g_sum += static_cast<unsigned char>(c);
      }
    }
    if (const auto numbers = gguf.floats(key); numbers.ok()) g_sum += numbers->size();
    if (const auto numbers = gguf.integers(key); numbers.ok()) g_sum += numbers->size();
    if (const auto text = gguf.string(key); text.ok()) {
      for (const char c : *text) g_sum += static_cast<unsigned char>(c);
    }
    g_sum += gainz::gguf_value_text(value, 8).size();
  }
}

void use_tensors(const gainz::Gguf& gguf, bool with_data) {
  for (const gainz::GgufTensor& tensor : gguf.tensors()) {
    if (gguf.find_tensor(tensor.name) != &tensor) __builtin_trap();
    if (tensor.data.empty() == with_data) __builtin_trap();
    if (with_data && tensor.data.size() != gainz::gguf_tensor_bytes(tensor)) __builtin_trap();
    if (with_data) g_sum += static_cast<uint8_t>(tensor.data.front()) + static_cast<uint8_t>(tensor.data.back());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data), reinterpret_cast<const std::byte*>(data) + size);
  for (const bool metadata_only : {false, true}) {
    const auto gguf = gainz::Gguf::parse(copy, {.use_mmap = true, .metadata_only = metadata_only});
    if (!gguf.ok()) {
      if (gguf.status().message().empty()) __builtin_trap();
      continue;
    }
    use_keys(**gguf);
    use_tensors(**gguf, !metadata_only);
  }
  return 0;
}
