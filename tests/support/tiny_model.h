// The project's tiny model: architecture llama, under 1 MB, made by a program so that no file need be kept. The same options
// give the same bytes on every machine (integer generator, exact conversions).
//
// Shape: 2 layers, hidden 64, ffn 128, 4 heads over 2 kv heads of 16, context 512, rope base 10000. Weight rows are a multiple
// of 32 (of 256 for super-block types: hidden becomes 256, ffn 512, heads of 64). Vocabulary: 256 byte tokens, 61 merges, 3
// special tokens (320 in all); byte-level BPE with the smollm pre-tokenizer; ChatML template. Owner: the caller. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/gguf_writer.h"

namespace gainz::test {

struct TinyModelOptions {
  std::string type = "Q8_0";  // GGUF name of the matrices' type: F32 F16 BF16 Q8_0 Q4_0 Q4_1, or any other usable type
  bool tied = true;           // no output.weight: the embedding is the head
  uint64_t seed = 1;
  uint32_t num_layers = 2;
  uint32_t context = 512;
  std::string chat_template;  // "": ChatML
};

inline constexpr uint32_t kTinyVocab = 320;
inline constexpr uint32_t kTinyEndOfText = 0, kTinyImStart = 1, kTinyImEnd = 2;  // token ids

// Empty tensors list if the type's name is unknown. The writer can be changed further before it is written.
GgufWriter tiny_model(const TinyModelOptions& options);
bool write_tiny_model(const std::string& path, const TinyModelOptions& options);  // false: unknown type or unwritable path

// Value i of stream s of the fixed generator: splitmix64 of a counter, then a uniform value in [-1, 1) with 24 bits.
float tiny_uniform(uint64_t seed, uint64_t stream, uint64_t index);

// num values (a multiple of the type's block) as blocks of that type; empty if there is no such type. Rounds for F32, F16,
// BF16, Q8_0, Q4_0, Q4_1; other types get valid pseudo-random blocks with small scales that only take their seed from the
// values.
Bytes encode_blocks(std::string_view type, std::span<const float> values);

}  // namespace gainz::test
