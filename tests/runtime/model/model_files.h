// Small model files of every architecture, made in memory, for tests to use or to break; and the error that a broken one gives.
// Owner: the test. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "support/gguf_writer.h"

namespace gainz::test {

struct FileShape {
  uint32_t num_layers = 2, embedding = 32, vocab = 48, feed_forward = 64, num_heads = 4, num_kv_heads = 2, head_dim = 8,
           context = 256;
  uint32_t num_experts = 0, num_used = 0, expert_feed_forward = 0;  // qwen3moe
  uint64_t seed = 7;
};

// architecture: llama, qwen2, qwen3, gemma3, qwen3moe. All tensors F32, random.
GgufWriter model_file(const std::string& architecture, const FileShape& shape);

// Replaces a key of the file, or adds it.
GgufWriter& set_u32(GgufWriter& file, const std::string& key, uint32_t value);
GgufWriter& set_f32(GgufWriter& file, const std::string& key, float value);
GgufWriter& set_string(GgufWriter& file, const std::string& key, const std::string& value);
GgufWriter& set_array(GgufWriter& file, const std::string& key, const std::vector<uint32_t>& values);

// The status of building the file's graph.
Status build_status(const GgufWriter& file);
std::vector<float> tensor_values(const GgufWriter& file, const std::string& name);  // of an F32 tensor

// A path in the test's own temporary folder.
std::string temporary_path(const std::string& name);
std::string write_temporary(const GgufWriter& file, const std::string& name);

}  // namespace gainz::test
