// Toy models: a graph with its weights in one file, as the runtime builds it for each architecture. Little-endian:
//
//   "GZTOY1\0\0"
//   u32 values, nodes, groups, inputs, outputs
//   value   u32 kind type rows; u64 dims[4]; u32 n; n bytes of name; u64 m; m bytes of a weight
//   node    u32 op num_inputs num_outputs layer; u32 inputs[6], outputs[2]; u32 n; n bytes of attributes (the op's struct)
//   group   u32 num_layers num_kv_heads k_head_dim v_head_dim window
//   inputs, outputs   u32 each
#ifndef GAINZ_SDK_CONFORM_TOYS_H
#define GAINZ_SDK_CONFORM_TOYS_H

#include <istream>

#include "conform/harness.h"

namespace gainz::conform {

// Throws std::runtime_error: not such a file, or cut short.
void read_toy(const std::string& path, GraphBuilder& graph);
// The weights are those of `weights`.
std::string write_toy(const gainz_graph& graph, const gainz_weights& weights);

}  // namespace gainz::conform

#endif
