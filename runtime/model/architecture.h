// Architecture: from a model file to its graph. One builder an architecture, in architectures/; each reads like its paper.
//
// Every key "<architecture>.*" and every tensor of the file is used, or named in an error: nothing is ignored in silence.
// Owner: the Model. Threads: any. Errors: invalid (what the file says cannot be), unsupported (well-formed, but not known
// here), both naming the key or tensor; an unknown architecture lists the known ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/graph.h"
#include "model/hyperparameters.h"
#include "model/tensors.h"

namespace gainz {

// Everything that a file says. Outputs of the graph: logits [R, vocab_size], hidden rows after the final norm [R,
// embedding_length].
struct Blueprint {
  Hyperparameters hyper;
  Graph graph;
  std::vector<const GgufTensor*> tensors;  // by value of the graph, null where there is none; views into the file
};

Result<Blueprint> build_model(const Gguf& file);
std::vector<std::string_view> known_architectures();

// What a builder works with, and the pieces that all decoders share.
class Builder {
 public:
  Builder(const Hyperparameters& h, Keys& k, Tensors& t, Graph& g) : hyper(h), keys(k), tensors(t), graph(g) {}

  const Hyperparameters& hyper;
  Keys& keys;
  Tensors& tensors;
  Graph& graph;

  // Page groups of layers that share window and heads. windows[num_layers]: tokens that a query sees; 0: all. Before the first
  // layer.
  Status plan_pages(const std::vector<uint32_t>& windows);
  void begin_layer(uint32_t layer);  // names and attention below are this layer's from here on
  uint32_t num_heads() const { return hyper.num_heads[layer_]; }
  uint32_t num_kv_heads() const { return hyper.num_kv_heads[layer_]; }
  uint32_t feed_forward_length() const { return hyper.feed_forward_length[layer_]; }

  enum class Bias { none, optional, required };
  ValueId matrix(const char* name, std::vector<uint64_t> dims);        // blk.N.NAME.weight
  ValueId embed();                                                     // [T, embedding_length]
  ValueId norm(ValueId x, const char* name);                           // RMSNorm by blk.N.NAME.weight
  ValueId head_norm(ValueId x, const char* name, uint32_t num_heads);  // the same over each head
  ValueId linear(ValueId x, const char* name, uint64_t num_columns, Bias bias = Bias::none);
  ValueId rope(ValueId x, gainz_rope_attr attr, uint32_t num_heads, ValueId factors = kNoValue);
  ValueId attend(ValueId q, ValueId k, ValueId v, float scale, float softcap = 0);
  // down(activation(gate(x)) * up(x)), Shazeer 2020, "GLU Variants Improve Transformer".
  ValueId gated_feed_forward(ValueId x, uint32_t activation, Bias bias = Bias::none);
  // Output rows, final norm, head; the embedding is the head where the file has no output.weight. softcap 0: none.
  void head(ValueId x, float softcap = 0);

 private:
  std::string tensor_name(const char* name, const char* suffix) const;
  uint32_t layer_ = 0;
  std::vector<uint32_t> windows_, group_of_layer_, place_in_group_;
};

using BuildFunction = Status (*)(Builder&);

}  // namespace gainz
