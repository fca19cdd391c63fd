// Fusion: the nodes of a graph gathered into pieces of work that one dispatch (or a few) can do. Only what nobody else can see
// disappears: products of one input over weights of one type become one product; gate, up and their activation one; a sum
// behind a product or a norm its epilogue. Pure functions, any thread.
#pragma once

#include <vector>

#include "simple/graph.h"
#include "support.h"

namespace gainz::vulkan {

struct Work {
  const sdk::Node* node = nullptr;        // the op; of several products the first
  std::vector<const sdk::Node*> linears;  // LINEAR: those that share the input, in order; each output has its columns
  const sdk::Node* gated = nullptr;       // LINEAR: the GATED_ACTIVATION of linears[0] and linears[1]
  const sdk::Node* add = nullptr;         // the ADD that is done with a LINEAR or a norm
  uint32_t residual = kNone;              // ADD's other value
  uint32_t layer = GAINZ_NO_VALUE;
  uint64_t mask = 0;  // bit o: graph output o needs it; kMaskAlways: so do the pages

  // The value that is stored.
  uint32_t output() const { return add != nullptr ? add->outputs[0] : gated != nullptr ? gated->outputs[0] : node->outputs[0]; }
};
inline constexpr uint64_t kMaskAlways = 1ull << 63;
inline constexpr uint32_t kMaxMaskedOutputs = 62;  // graph outputs from this one on share a bit

std::vector<Work> fuse(const sdk::Graph& graph);

}  // namespace gainz::vulkan
