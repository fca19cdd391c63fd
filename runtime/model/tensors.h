// Tensors: the tensors of a model file as weights of its graph. Each is looked up by name with the shape that the architecture
// expects; the first mistake is kept, so that a builder reads like the paper. finish() refuses a tensor that nobody asked for.
//
// Owner: the builder of a model. Threads: one. Errors: invalid or unsupported, naming the tensor, what was expected and what is
// there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gguf/gguf.h"
#include "model/graph.h"

namespace gainz {

class Tensors {
 public:
  Tensors(const Gguf& file, Graph& graph) : file_(file), graph_(graph) {}

  // dims as in gainz_value: row length, rows, matrices. A tensor that is asked for twice is one value.
  ValueId matrix(const std::string& name, std::vector<uint64_t> dims);
  ValueId vector(const std::string& name, uint64_t length);           // f32
  ValueId optional_vector(const std::string& name, uint64_t length);  // kNoValue if absent
  bool has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }
  void fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  Status finish() const;
  // By value of the graph; null for values that are no weights.
  std::vector<const GgufTensor*> by_value() const;

 private:
  ValueId find(const std::string& name, std::vector<uint64_t> dims, bool needs_f32);

  const Gguf& file_;
  Graph& graph_;
  std::map<std::string, ValueId, std::less<>> values_;
  std::vector<std::pair<ValueId, const GgufTensor*>> weights_;
  Status status_;
};

}  // namespace gainz
