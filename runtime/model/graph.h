// Graph: a model as nodes over values, in the words of the plugin ABI (gainz/sdk/graph.h, ops.h), and the builder that makes
// one read like the paper. Shapes are checked as nodes are added; the first mistake is kept and returned by finish().
//
// Owner: the Model. Threads: built on one, then read-only. view() stays valid as long as the Graph and is not moved.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "gainz/sdk/sdk.h"

namespace gainz {

using ValueId = uint32_t;
constexpr ValueId kNoValue = GAINZ_NO_VALUE;

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  void set_layer(uint32_t layer);  // of the nodes that follow; GAINZ_NO_VALUE outside of layers

  // dims as in gainz_value. The name is the tensor's in the file.
  ValueId weight(const std::string& name, uint32_t type, std::vector<uint64_t> dims);
  ValueId input(const std::string& name, uint32_t type, uint32_t rows, uint64_t num_columns);
  uint32_t page_group(const gainz_page_group& group);  // returns its index
  void output(ValueId value);

  ValueId embed(ValueId w);
  ValueId rmsnorm(ValueId x, ValueId w, float epsilon, uint32_t num_groups = 1);
  ValueId layernorm(ValueId x, ValueId w, ValueId b, float epsilon);
  ValueId linear(ValueId x, ValueId w, ValueId b = kNoValue);
  ValueId rope(ValueId x, const gainz_rope_attr& attr, ValueId factors = kNoValue);
  void kv_write(ValueId k, ValueId v, const gainz_attention_attr& attr);
  ValueId attention(ValueId q, const gainz_attention_attr& attr);
  ValueId activation(ValueId x, uint32_t kind);
  ValueId gated_activation(ValueId gate, ValueId up, uint32_t kind);
  ValueId add(ValueId a, ValueId b);
  ValueId mul(ValueId a, ValueId b);
  ValueId scale(ValueId x, float factor);
  ValueId softcap(ValueId x, float cap);
  std::pair<ValueId, ValueId> moe_route(ValueId x, uint32_t num_chosen, bool normalize, float scale);  // ids, weights
  ValueId moe_linear(ValueId x, ValueId ids, ValueId w, uint32_t rows_per_token, ValueId weights = kNoValue);
  ValueId gather_rows(ValueId x);
  ValueId logit_mask(ValueId x);
  std::pair<ValueId, ValueId> top_k(ValueId x, uint32_t num_chosen);  // values, ids

  Status finish();                  // INVALID naming the node and the shapes
  const gainz_graph* view() const;  // after finish()
  uint64_t num_columns(ValueId value) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gainz
