// Model: the checked graph and its weights, packed once. Owner: the device. Constant after create.
#pragma once

#include <memory>
#include <vector>

#include "dnn.h"
#include "simple/graph.h"
#include "weights.h"

namespace gainz::onednn {

// Sets claims[node] where this plugin runs the node: every known op over weights of weights.h.
Status claim(const sdk::Graph& graph, uint8_t* claims);

class Model {
 public:
  // What a weight value became: panels where it is a matrix, plain f32 where it is a vector; both if it is used as both.
  struct Weight {
    PackedWeight matrix;
    HostMemory vector;               // padded with zeros to whole panels
    std::unique_ptr<DnnLinear> dnn;  // F32 matrices, where oneDNN does their products
    const float* floats() const { return reinterpret_cast<const float*>(vector.data()); }
  };

  // `use_dnn`: F32 products by oneDNN. Errors as in model.h of the SDK.
  Status create(const Host& host, const gainz_graph* graph, const gainz_weights& weights, bool use_dnn);
  const sdk::Graph& graph() const { return graph_; }
  const Weight& weight(uint32_t value) const { return weights_[value]; }
  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  Status load(const Host& host, const gainz_weights& weights, uint32_t value, bool matrix, bool vector);
  sdk::Graph graph_;
  std::vector<Weight> weights_;  // [num_values]
  uint64_t memory_bytes_ = 0, done_bytes_ = 0, total_bytes_ = 0;
};

}  // namespace gainz::onednn
