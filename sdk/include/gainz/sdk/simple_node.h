// simple_node.h: the plain values of SimpleBackend: a status with its sentence; values, nodes and weights of a checked graph in
// C++. Owner: the caller. Threads: any, once filled.
#ifndef GAINZ_SDK_SIMPLE_NODE_H
#define GAINZ_SDK_SIMPLE_NODE_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gainz/sdk/sdk.h"

namespace gainz::sdk {

// A gainz_status and its sentence.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(gainz_status code, std::string text) : code_(code), text_(std::move(text)) {}
  bool ok() const { return code_ == GAINZ_STATUS_OK; }
  gainz_status code() const { return code_; }
  const std::string& text() const { return text_; }

 private:
  gainz_status code_ = GAINZ_STATUS_OK;
  std::string text_;
};

// A status with a sentence made as printf does, cut at 512 bytes.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
Status
failure(gainz_status code, const char* format, ...);

// Copies `text` into the caller's buffer, cut at a whole character. `error` may be NULL.
void write_error(gainz_error* error, std::string_view text) noexcept;

struct Value {
  uint32_t kind = 0;  // GAINZ_VALUE_*
  uint32_t type = 0;
  uint32_t rows = 0;  // GAINZ_ROWS_*
  std::array<uint64_t, 4> dims{};
  std::string name;
  uint64_t cols() const { return dims[0]; }
};

union NodeAttributes {
  gainz_norm_attr norm;
  gainz_rope_attr rope;
  gainz_attention_attr attention;
  gainz_activation_attr activation;
  gainz_scale_attr scale;
  gainz_moe_route_attr moe_route;
  gainz_moe_linear_attr moe_linear;
  gainz_top_k_attr top_k;
};

struct Node {
  uint32_t op = 0;
  uint32_t index = 0;  // in the graph
  uint32_t layer = GAINZ_NO_VALUE;
  uint32_t num_inputs = 0;
  uint32_t num_outputs = 0;
  std::array<uint32_t, GAINZ_NODE_MAX_INPUTS> inputs{};
  std::array<uint32_t, GAINZ_NODE_MAX_OUTPUTS> outputs{};
  NodeAttributes attr{};
  const std::vector<Value>* values = nullptr;  // of the graph; owner: the graph

  bool has_input(uint32_t i) const { return i < num_inputs && inputs[i] != GAINZ_NO_VALUE; }
  const Value& input(uint32_t i) const { return (*values)[inputs[i]]; }  // has_input(i)
  const Value& output(uint32_t i) const { return (*values)[outputs[i]]; }
};

// A weight in the caller's hands: `count` matrices of `n` rows of `k` elements in blocks of `type`, packed, at any address
// unless `type` is F32 (then aligned for float).
struct Weight {
  uint32_t type = 0;
  const void* data = nullptr;
  uint64_t k = 0, n = 0, count = 0;
};

}  // namespace gainz::sdk

#endif
