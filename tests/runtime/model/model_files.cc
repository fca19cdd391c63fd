#include "runtime/model/model_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "model/architecture.h"
#include "support/tiny_model.h"

namespace gainz::test {
namespace {

class Filler {
 public:
  Filler(GgufWriter& file, uint64_t seed) : file_(file), seed_(seed) {}
  void norm(const std::string& name, uint64_t size) { add(name, {size}, 1.0f, 0.25f); }
  void bias(const std::string& name, uint64_t size) { add(name, {size}, 0.0f, 0.1f); }
  void matrix(const std::string& name, std::vector<uint64_t> dims) {
    const float limit = std::sqrt(3.0f / float(dims[0]));
    add(name, std::move(dims), 0.0f, limit);
  }

 private:
  void add(const std::string& name, std::vector<uint64_t> dims, float center, float limit) {
    uint64_t count = 1;
    for (const uint64_t dim : dims) count *= dim;
    std::vector<float> values(count);
    for (uint64_t i = 0; i < count; ++i) values[i] = center + limit * tiny_uniform(seed_, stream_, i);
    ++stream_;
    file_.tensor_f32(name, std::move(dims), values);
  }
  GgufWriter& file_;
  uint64_t seed_, stream_ = 0;
};

void add_layer(Filler& fill, const std::string& arch, const FileShape& s, const std::string& blk) {
  const uint64_t q = uint64_t{s.num_heads} * s.head_dim, kv = uint64_t{s.num_kv_heads} * s.head_dim;
  fill.norm(blk + "attn_norm.weight", s.embedding);
  fill.matrix(blk + "attn_q.weight", {s.embedding, q});
  fill.matrix(blk + "attn_k.weight", {s.embedding, kv});
  fill.matrix(blk + "attn_v.weight", {s.embedding, kv});
  fill.matrix(blk + "attn_output.weight", {q, s.embedding});
  if (arch == "qwen2") {
    fill.bias(blk + "attn_q.bias", q);
    fill.bias(blk + "attn_k.bias", kv);
    fill.bias(blk + "attn_v.bias", kv);
  }
  if (arch == "qwen3" || arch == "gemma3" || arch == "qwen3moe") {
    fill.norm(blk + "attn_q_norm.weight", s.head_dim);
    fill.norm(blk + "attn_k_norm.weight", s.head_dim);
  }
  if (arch == "gemma3") fill.norm(blk + "post_attention_norm.weight", s.embedding);
  if (arch == "gemma3") fill.norm(blk + "post_ffw_norm.weight", s.embedding);
  fill.norm(blk + "ffn_norm.weight", s.embedding);
  if (arch == "qwen3moe") {
    fill.matrix(blk + "ffn_gate_inp.weight", {s.embedding, s.num_experts});
    fill.matrix(blk + "ffn_gate_exps.weight", {s.embedding, s.expert_feed_forward, s.num_experts});
    fill.matrix(blk + "ffn_up_exps.weight", {s.embedding, s.expert_feed_forward, s.num_experts});
    fill.matrix(blk + "ffn_down_exps.weight", {s.expert_feed_forward, s.embedding, s.num_experts});
    return;
  }
  fill.matrix(blk + "ffn_gate.weight", {s.embedding, s.feed_forward});
  fill.matrix(blk + "ffn_up.weight", {s.embedding, s.feed_forward});
  fill.matrix(blk + "ffn_down.weight", {s.feed_forward, s.embedding});
}

}  // namespace

GgufWriter model_file(const std::string& architecture, const FileShape& s) {
  GgufWriter file;
  const std::string a = architecture + ".";
  file.string("general.architecture", architecture).string("general.name", "a test");
  file.u32(a + "block_count", s.num_layers).u32(a + "context_length", s.context).u32(a + "embedding_length", s.embedding);
  file.u32(a + "feed_forward_length", s.feed_forward).u32(a + "attention.head_count", s.num_heads);
  file.u32(a + "attention.head_count_kv", s.num_kv_heads).f32(a + "attention.layer_norm_rms_epsilon", 1e-6f);
  file.u32(a + "attention.key_length", s.head_dim)
      .u32(a + "attention.value_length", s.head_dim)
      .f32(a + "rope.freq_base", 10000.0f);
  if (architecture == "gemma3") file.u32(a + "attention.sliding_window", 4);
  if (architecture == "qwen3moe") {
    file.u32(a + "expert_count", s.num_experts)
        .u32(a + "expert_used_count", s.num_used)
        .u32(a + "expert_feed_forward_length", s.expert_feed_forward);
  }
  Filler fill(file, s.seed);
  fill.matrix("token_embd.weight", {s.embedding, s.vocab});
  for (uint32_t i = 0; i < s.num_layers; ++i) add_layer(fill, architecture, s, "blk." + std::to_string(i) + ".");
  fill.norm("output_norm.weight", s.embedding);
  if (architecture != "gemma3") fill.matrix("output.weight", {s.embedding, s.vocab});
  return file;
}

GgufWriter& set_u32(GgufWriter& file, const std::string& key, uint32_t value) { return file.remove(key).u32(key, value); }
GgufWriter& set_f32(GgufWriter& file, const std::string& key, float value) { return file.remove(key).f32(key, value); }
GgufWriter& set_string(GgufWriter& file, const std::string& key, const std::string& value) {
  return file.remove(key).string(key, value);
}
GgufWriter& set_array(GgufWriter& file, const std::string& key, const std::vector<uint32_t>& values) {
  return file.remove(key).array<uint32_t>(key, values);
}

Status build_status(const GgufWriter& file) {
  const Bytes bytes = file.bytes();
  const auto gguf = Gguf::parse(bytes, {});
  if (!gguf.ok()) return gguf.status();
  return build_model(**gguf).status();
}

std::vector<float> tensor_values(const GgufWriter& file, const std::string& name) {
  for (const GgufWriter::Tensor& tensor : file.tensors) {
    if (tensor.name != name) continue;
    std::vector<float> values(tensor.data.size() / sizeof(float));
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
  }
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

std::string temporary_path(const std::string& name) {
  return ::testing::TempDir() + "gainz-model-" + std::to_string(::getpid()) + "-" + name;
}

std::string write_temporary(const GgufWriter& file, const std::string& name) {
  std::string path = temporary_path(name);
  EXPECT_TRUE(file.write(path)) << path;
  return path;
}

}  // namespace gainz::test
