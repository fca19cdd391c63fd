// Keys: the "<architecture>.*" keys of a model file, read with checks and counted: finish() refuses a key that nobody asked
// for, since it would say something about the model that the graph does not do.
//
// Owner: the builder of a model. Threads: one. Errors: invalid, naming key, value and what is allowed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gguf/gguf.h"

namespace gainz {

class Keys {
 public:
  Keys(const Gguf& file, std::string architecture) : file_(file), architecture_(std::move(architecture)) {}

  const std::string& architecture() const { return architecture_; }
  bool has(const std::string& key);  // counts as read
  bool is_array(const std::string& key) const;

  Result<uint32_t> u32(const std::string& key, uint64_t least, uint64_t most);
  Result<uint32_t> u32_or(const std::string& key, uint32_t otherwise, uint64_t least, uint64_t most);
  Result<float> f32(const std::string& key, double least, double most);  // finite
  Result<float> f32_or(const std::string& key, float otherwise, double least, double most);
  Result<bool> boolean_or(const std::string& key, bool otherwise);
  Result<std::string> text_or(const std::string& key, const std::string& otherwise);
  // One number for all layers or an array of one for each.
  Result<std::vector<uint32_t>> per_layer(const std::string& key, uint32_t num_layers, uint64_t least, uint64_t most);
  Result<std::vector<uint32_t>> per_layer_or(const std::string& key, std::vector<uint32_t> otherwise, uint64_t least,
                                             uint64_t most);

  // The key, if present, must have this value: what it asks for beyond that is not supported.
  Status only(const std::string& key, double value);
  void ignore(const std::string& key) { has(key); }  // says nothing about the computation

  Status finish() const;

 private:
  std::string full(const std::string& key) const { return architecture_ + "." + key; }
  Status wrong(const std::string& key, const std::string& value, const std::string& wanted) const;

  const Gguf& file_;
  std::string architecture_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace gainz
