#include "model/architecture.h"

#include "model/limits.h"

// An architecture is one line here and one file in architectures/.
#define GAINZ_ARCHITECTURES(X) X(gemma3) X(llama) X(qwen2) X(qwen3) X(qwen3moe)

namespace gainz {

#define GAINZ_DECLARE(name) Status build_##name(Builder& b);
GAINZ_ARCHITECTURES(GAINZ_DECLARE)
#undef GAINZ_DECLARE

namespace {

struct Architecture {
  std::string_view name;
  BuildFunction build;
};

#define GAINZ_ROW(name) {#name, build_##name},
constexpr Architecture kArchitectures[] = {GAINZ_ARCHITECTURES(GAINZ_ROW)};
#undef GAINZ_ROW

}  // namespace

std::vector<std::string_view> known_architectures() {
  std::vector<std::string_view> names;
  for (const Architecture& a : kArchitectures) names.push_back(a.name);
  return names;
}

Result<Blueprint> build_model(const Gguf& file) {
  const auto name = file.string("general.architecture");
  if (!name.ok()) return Status(Code::invalid, name.status().message());
  const Architecture* found = nullptr;
  std::string known;
  for (const Architecture& a : kArchitectures) {
    if (a.name == *name) found = &a;
    known += (known.empty() ? "" : ", ") + std::string(a.name);
  }
  if (found == nullptr)
    return Status(Code::unsupported, "architecture " + std::string(name->substr(0, 64)) + " is not known; there are: " + known);
  Keys keys(file, std::string(*name));
  Blueprint out;
  GAINZ_ASSIGN(out.hyper, read_hyperparameters(file, keys));
  Tensors tensors(file, out.graph);
  Builder builder(out.hyper, keys, tensors, out.graph);
  GAINZ_TRY(found->build(builder));
  GAINZ_TRY(keys.finish());
  GAINZ_TRY(tensors.finish());
  GAINZ_TRY(out.graph.finish());
  out.tensors = tensors.by_value();
  out.tensors.resize(out.graph.view()->num_values, nullptr);
  return out;
}

Status Builder::plan_pages(const std::vector<uint32_t>& windows) {
  struct Shape {
    uint32_t window, num_kv_heads, num_layers;
  };
  std::vector<Shape> shapes;
  windows_ = windows;
  for (uint32_t i = 0; i < hyper.num_layers; ++i) {
    size_t g = 0;
    while (g < shapes.size() && (shapes[g].window != windows[i] || shapes[g].num_kv_heads != hyper.num_kv_heads[i])) ++g;
    if (g == shapes.size()) shapes.push_back({windows[i], hyper.num_kv_heads[i], 0});
    group_of_layer_.push_back(uint32_t(g));
    place_in_group_.push_back(shapes[g].num_layers++);
  }
  if (shapes.size() > kMaxModelPageGroups)
    return {Code::limit_exceeded, "the layers have " + std::to_string(shapes.size()) +
                                      " combinations of window and attention.head_count_kv; at most " +
                                      std::to_string(kMaxModelPageGroups) + " are allowed"};
  for (const Shape& s : shapes)
    graph.page_group({sizeof(gainz_page_group), s.num_layers, s.num_kv_heads, hyper.k_head_dim, hyper.v_head_dim, s.window});
  return {};
}

void Builder::begin_layer(uint32_t layer) {
  layer_ = layer;
  graph.set_layer(layer);
}

std::string Builder::tensor_name(const char* name, const char* suffix) const {
  return "blk." + std::to_string(layer_) + "." + name + suffix;
}

ValueId Builder::embed() {
  return graph.embed(tensors.matrix("token_embd.weight", {hyper.embedding_length, hyper.vocab_size}));
}

ValueId Builder::matrix(const char* name, std::vector<uint64_t> dims) {
  return tensors.matrix(tensor_name(name, ".weight"), std::move(dims));
}

ValueId Builder::norm(ValueId x, const char* name) {
  return graph.rmsnorm(x, tensors.vector(tensor_name(name, ".weight"), hyper.embedding_length), hyper.norm_epsilon);
}

ValueId Builder::head_norm(ValueId x, const char* name, uint32_t num_heads) {
  return graph.rmsnorm(x, tensors.vector(tensor_name(name, ".weight"), hyper.k_head_dim), hyper.norm_epsilon, num_heads);
}

ValueId Builder::linear(ValueId x, const char* name, uint64_t num_columns, Bias bias) {
  const ValueId w = tensors.matrix(tensor_name(name, ".weight"), {graph.num_columns(x), num_columns});
  ValueId b = kNoValue;
  if (bias == Bias::required) b = tensors.vector(tensor_name(name, ".bias"), num_columns);
  if (bias == Bias::optional) b = tensors.optional_vector(tensor_name(name, ".bias"), num_columns);
  return graph.linear(x, w, b);
}

ValueId Builder::rope(ValueId x, gainz_rope_attr attr, uint32_t num_heads, ValueId factors) {
  attr.num_heads = num_heads;
  return graph.rope(x, attr, factors);
}

ValueId Builder::attend(ValueId q, ValueId k, ValueId v, float scale, float softcap) {
  const gainz_attention_attr attr{sizeof(gainz_attention_attr),
                                  group_of_layer_[layer_],
                                  place_in_group_[layer_],
                                  num_heads(),
                                  num_kv_heads(),
                                  hyper.k_head_dim,
                                  hyper.v_head_dim,
                                  windows_[layer_],
                                  scale,
                                  softcap};
  graph.kv_write(k, v, attr);
  return graph.attention(q, attr);
}

ValueId Builder::gated_feed_forward(ValueId x, uint32_t activation, Bias bias) {
  if (feed_forward_length() == 0)
    tensors.fail({Code::invalid, "key " + hyper.architecture + ".feed_forward_length is missing or 0"});
  const ValueId gate = linear(x, "ffn_gate", feed_forward_length(), bias);
  const ValueId up = linear(x, "ffn_up", feed_forward_length(), bias);
  return linear(graph.gated_activation(gate, up, activation), "ffn_down", hyper.embedding_length, bias);
}

void Builder::head(ValueId x, float softcap) {
  graph.set_layer(GAINZ_NO_VALUE);
  const ValueId rows = graph.gather_rows(x);
  const ValueId hidden = graph.rmsnorm(rows, tensors.vector("output_norm.weight", hyper.embedding_length), hyper.norm_epsilon);
  const char* name = tensors.has("output.weight") ? "output.weight" : "token_embd.weight";
  ValueId logits = graph.linear(hidden, tensors.matrix(name, {hyper.embedding_length, hyper.vocab_size}));
  if (softcap != 0) logits = graph.softcap(logits, softcap);
  graph.output(logits);
  graph.output(hidden);
}

}  // namespace gainz
