// Partition: a model's graph cut into parts that run one after another, each on one owner: the backend, or the scalar fallback
// for the nodes that the backend does not claim. What crosses a cut is a declared input or output in host memory. A part keeps
// the KV pages of its own layers; page numbers are common to all parts.
//
// Owner: the Model. Threads: made on one, then read-only. The whole graph must outlive its parts. Errors: internal where a
// backend's claims break the ABI, unsupported where it leaves nodes and there is no fallback.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "gainz/sdk/sdk.h"

namespace gainz {

struct Part {
  bool is_scalar = false;              // owner: the scalar fallback
  std::vector<uint32_t> whole_values;  // by value of this part: the value of the whole graph
  std::vector<uint32_t> whole_groups;  // by page group of this part: that of the whole graph
  // The part's own graph; names and most attributes are the whole graph's.
  std::vector<gainz_value> values;
  std::vector<gainz_node> nodes;
  std::vector<gainz_page_group> groups;
  std::vector<uint32_t> inputs, outputs;
  std::vector<std::unique_ptr<gainz_attention_attr>> attention;  // each stays where it is when the Part moves
  gainz_graph graph() const;                                     // valid as long as the Part, also where it has moved
};

// claims[num_nodes] as the backend filled them. Errors: internal, naming backend, node and violation.
Status check_claims(const gainz_graph& graph, std::span<const uint8_t> claims, const std::string& backend);
uint32_t num_unclaimed(std::span<const uint8_t> claims);
// The sentence that refuses a backend that leaves nodes: how many, and the first ones by name.
std::string unclaimed_text(const gainz_graph& graph, std::span<const uint8_t> claims, const std::string& backend);
// claims have passed check_claims.
std::vector<Part> partition(const gainz_graph& graph, std::span<const uint8_t> claims);

}  // namespace gainz
