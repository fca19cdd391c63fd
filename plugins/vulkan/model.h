// Model: the checked graph, its work, and its weights on the device. Owner: the opened device. Constant after create.
#pragma once

#include <map>
#include <memory>

#include "formats.h"
#include "fusion.h"
#include "memory.h"

namespace gainz::vulkan {

// Sets claims[node] where this plugin runs the node.
Status claim(const sdk::Graph& graph, uint8_t* claims);

// One or several weights of one type, row after row, in parts that a storage buffer can show.
struct Matrix {
  struct Part {
    uint64_t first = 0, count = 0;  // output columns, or experts of a MOE_LINEAR
    Range quants, scales;
  };
  Packing packing;
  uint64_t columns = 0, num_blocks = 0, row_words = 0, row_scale_words = 0;
  uint64_t num_rows = 0;  // of y, or of an expert
  std::vector<Part> parts;
};

class Model {
 public:
  explicit Model(Memory& memory) : memory_(memory) {}
  // Errors as in model.h of the SDK.
  Status create(Context& context, const gainz_graph* graph, const gainz_weights& weights);

  const sdk::Graph& graph() const { return graph_; }
  const std::vector<Work>& works() const { return works_; }
  const Matrix& matrix(const Work& work) const { return *matrices_.at(key_of(work)); }
  // A weight of one row of f32: norms, biases, factors.
  const Range& vector(uint32_t value) const { return vectors_.at(value); }
  const std::vector<float>& factors(uint32_t value) const { return factors_.at(value); }
  const Range* bias(const Work& work) const;  // of all its products, one after another; NULL: none
  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  struct Source {
    const uint8_t* bytes = nullptr;
    uint64_t num_rows = 0, row_bytes = 0;
    uint32_t type = 0;
  };
  using Key = std::vector<uint32_t>;  // values, and kNone behind them where they are gate and up
  static Key key_of(const Work& work);
  static Key bias_key(const Work& work);
  Status map(uint32_t value, Source* out);
  Status load_matrix(const Work& work);
  // `unit_rows`: rows of one output column, or of one expert.
  Status pack_part(const Matrix& matrix, const std::vector<Source>& sources, bool gated, uint64_t unit_rows,
                   Matrix::Part* part);
  Status load_vectors(const sdk::Node& node);
  Status load_bias(const Work& work);
  Status advance(uint64_t bytes);
  void tell_of_conversion(const Matrix& matrix, uint32_t type);

  Memory& memory_;
  Context* context_ = nullptr;
  const gainz_weights* weights_ = nullptr;
  sdk::Graph graph_;
  std::vector<Work> works_;
  std::map<Key, std::unique_ptr<Matrix>> matrices_;
  std::map<uint32_t, Range> vectors_;
  std::map<uint32_t, std::vector<float>> factors_;
  std::map<Key, Range> biases_;
  std::vector<uint32_t> told_;  // types
  uint64_t memory_bytes_ = 0, done_bytes_ = 0, total_bytes_ = 0;
};

}  // namespace gainz::vulkan
