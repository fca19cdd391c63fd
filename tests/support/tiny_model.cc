#include "support/tiny_model.h"

#include <cmath>
#include <string>
#include <utility>

namespace gainz::test {

namespace {

struct TypeNumber {
  std::string_view name;
  uint32_t number;
  bool super_block;  // blocks of 256
};
constexpr TypeNumber kTypes[] = {
    {"F32", 0, false},     {"F16", 1, false},    {"Q4_0", 2, false},  {"Q4_1", 3, false},
    {"Q5_0", 6, false},    {"Q5_1", 7, false},   {"Q8_0", 8, false},  {"Q2_K", 10, true},
    {"Q3_K", 11, true},    {"Q4_K", 12, true},   {"Q5_K", 13, true},  {"Q6_K", 14, true},
    {"IQ4_NL", 20, false}, {"IQ4_XS", 23, true}, {"BF16", 30, false}, {"MXFP4", 39, false},
};

// In GPT-2's letters: "Ġ" stands for a space. Each pair joins two tokens that exist by then.
constexpr std::string_view kMerges[] = {
    "Ġ t", "Ġ a",  "h e", "i n",  "r e",  "o n",    "Ġt he", "e r",   "Ġ s",   "a t",  "Ġ w",  "Ġ o", "e n",
    "o r", "Ġ c",  "i s", "e s",  "i t",  "n d",    "Ġ b",   "Ġ p",   "a n",   "a l",  "Ġ h",  "Ġ m", "Ġ f",
    "Ġ d", "in g", "o u", "Ġ in", "Ġ l",  "a r",    "Ġt o",  "Ġa nd", "Ġo f",  "Ġ g",  "i on", "a s", "l l",
    "l e", "Ġ n",  "v e", "o m",  "i c",  "e d",    "r o",   "Ġ y",   "Ġy ou", "Ġ re", "Ġ is", "Ġ Ġ", "ĠĠ ĠĠ",
    "Ġ e", "s t",  "u t", "Ġb e", "Ġt h", "Ġth at", "c h",   "w h",   "l o",
};

std::string utf8(uint32_t code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

// GPT-2's letter for a byte: itself where it prints, else the next free code from 256 on.
std::vector<std::string> byte_letters() {
  std::vector<std::string> letters;
  uint32_t next = 256;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    letters.push_back(utf8(prints ? byte : next++));
  }
  return letters;
}

constexpr std::string_view kChatMl =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
    "'\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

void add_tokenizer(GgufWriter& writer, const std::string& chat_template) {
  std::vector<std::string> tokens = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, merges;
  for (std::string& letter : byte_letters()) tokens.push_back(std::move(letter));
  for (const std::string_view merge : kMerges) {
    merges.emplace_back(merge);
    const size_t space = merge.find(' ');
    tokens.push_back(std::string(merge.substr(0, space)) + std::string(merge.substr(space + 1)));
  }
  std::vector<int32_t> types(tokens.size(), 1);  // 1 normal, 3 control
  types[kTinyEndOfText] = types[kTinyImStart] = types[kTinyImEnd] = 3;
  writer.string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "smollm").strings("tokenizer.ggml.tokens", tokens);
  writer.array("tokenizer.ggml.token_type", types).strings("tokenizer.ggml.merges", merges);
  writer.u32("tokenizer.ggml.bos_token_id", kTinyImStart).u32("tokenizer.ggml.eos_token_id", kTinyImEnd);
  writer.u32("tokenizer.ggml.unknown_token_id", kTinyEndOfText).u32("tokenizer.ggml.padding_token_id", kTinyImEnd);
  writer.boolean("tokenizer.ggml.add_space_prefix", false).boolean("tokenizer.ggml.add_bos_token", false);
  writer.string("tokenizer.chat_template", chat_template.empty() ? kChatMl : chat_template);
}

struct Shape {
  uint32_t hidden, ffn, head_dim;
};
constexpr uint32_t kNumHeads = 4, kNumKvHeads = 2;

void add_hyperparameters(GgufWriter& writer, const TinyModelOptions& options, const Shape& shape) {
  writer.string("general.architecture", "llama").string("general.type", "model").string("general.name", "gainz tiny");
  writer.u32("llama.block_count", options.num_layers).u32("llama.context_length", options.context);
  writer.u32("llama.embedding_length", shape.hidden).u32("llama.feed_forward_length", shape.ffn);
  writer.u32("llama.attention.head_count", kNumHeads).u32("llama.attention.head_count_kv", kNumKvHeads);
  writer.f32("llama.rope.freq_base", 10000.0f).f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.u32("llama.vocab_size", kTinyVocab).u32("llama.rope.dimension_count", shape.head_dim);
}

class Weights {
 public:
  Weights(GgufWriter& writer, const TinyModelOptions& options, uint32_t type)
      : writer_(writer), options_(options), type_(type) {}

  void norm(const std::string& name, uint32_t size) {  // around 1
    std::vector<float> values(size);
    for (uint32_t i = 0; i < size; ++i) values[i] = 1.0f + 0.25f * tiny_uniform(options_.seed, stream_, i);
    ++stream_;
    writer_.tensor_f32(name, {size}, values);
  }
  void matrix(const std::string& name, uint32_t columns, uint32_t rows, float limit) {  // uniform within +-limit
    std::vector<float> values(size_t{columns} * rows);
    for (size_t i = 0; i < values.size(); ++i) values[i] = limit * tiny_uniform(options_.seed, stream_, i);
    ++stream_;
    writer_.tensor(name, type_, {columns, rows}, encode_blocks(options_.type, values));
  }

 private:
  GgufWriter& writer_;
  const TinyModelOptions& options_;
  uint32_t type_;
  uint64_t stream_ = 0;
};

void add_layer(Weights& weights, uint32_t layer, const Shape& shape) {
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  const uint32_t hidden = shape.hidden, kv = kNumKvHeads * shape.head_dim;
  const float limit = std::sqrt(3.0f / static_cast<float>(hidden));  // keeps the variance of what goes in
  weights.norm(prefix + "attn_norm.weight", hidden);
  weights.matrix(prefix + "attn_q.weight", hidden, hidden, limit);
  weights.matrix(prefix + "attn_k.weight", hidden, kv, limit);
  weights.matrix(prefix + "attn_v.weight", hidden, kv, limit);
  weights.matrix(prefix + "attn_output.weight", hidden, hidden, limit);
  weights.norm(prefix + "ffn_norm.weight", hidden);
  weights.matrix(prefix + "ffn_gate.weight", hidden, shape.ffn, limit);
  weights.matrix(prefix + "ffn_up.weight", hidden, shape.ffn, limit);
  weights.matrix(prefix + "ffn_down.weight", shape.ffn, hidden, std::sqrt(3.0f / static_cast<float>(shape.ffn)));
}

}  // namespace

float tiny_uniform(uint64_t seed, uint64_t stream, uint64_t index) {
  uint64_t z = seed * 0xd1342543de82ef95u + (stream << 40) + index;  // splitmix64 (Steele, Lea, Flood 2014) of a counter
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<float>(static_cast<int32_t>(z >> 40) - (1 << 23)) / static_cast<float>(1 << 23);
}

GgufWriter tiny_model(const TinyModelOptions& options) {
  GgufWriter writer;
  for (const TypeNumber& type : kTypes) {
    if (type.name != options.type) continue;
    const Shape shape = type.super_block ? Shape{256, 256, 64} : Shape{64, 128, 16};
    add_hyperparameters(writer, options, shape);
    add_tokenizer(writer, options.chat_template);
    Weights weights(writer, options, type.number);
    weights.matrix("token_embd.weight", shape.hidden, kTinyVocab, 1.0f);
    for (uint32_t layer = 0; layer < options.num_layers; ++layer) add_layer(weights, layer, shape);
    weights.norm("output_norm.weight", shape.hidden);
    if (!options.tied) weights.matrix("output.weight", shape.hidden, kTinyVocab, 0.5f);
  }
  return writer;
}

bool write_tiny_model(const std::string& path, const TinyModelOptions& options) {
  const GgufWriter writer = tiny_model(options);
  return !writer.tensors.empty() && writer.write(path);
}

}  // namespace gainz::test
