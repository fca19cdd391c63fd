// One graph without pages on a device: inputs given, outputs taken, canaries looked at.
#ifndef GAINZ_SDK_CONFORM_OP_RUNNER_H
#define GAINZ_SDK_CONFORM_OP_RUNNER_H

#include "conform/suite.h"

namespace gainz::conform {

// A step of an op's graph. Inputs in the order of the graph: [rows, cols] of 4-byte values.
struct OpStep {
  uint32_t num_tokens = 1;
  std::vector<uint32_t> output_rows;  // of tokens, rising
  uint8_t phase = GAINZ_PHASE_GENERATED;
  std::vector<int32_t> tokens;             // [num_tokens]; empty: 0
  std::vector<std::vector<float>> inputs;  // bits; ids as their bits
  std::vector<uint32_t> logit_masks;       // [R, mask_words]; empty: none
  uint32_t mask_words = 0;
  uint32_t first_position = 0;
};

// Every output's rows as bits of 4 bytes. Throws Unsupported where the device does not claim the nodes, Failed for a status
// other than OK and for a byte written outside of a row.
std::vector<std::vector<std::vector<float>>> run_ops(const Device& device, GraphBuilder& graph, const OpStep& step);

}  // namespace gainz::conform

#endif
