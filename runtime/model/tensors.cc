#include "model/tensors.h"

#include "gguf/tensor_type.h"

namespace gainz {
namespace {

std::string shape_text(const std::vector<uint64_t>& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return out + "]";
}

std::vector<uint64_t> without_ones(std::vector<uint64_t> dims) {
  while (dims.size() > 1 && dims.back() == 1) dims.pop_back();
  return dims;
}

// Tensors of old files that hold what is computed from keys here: the rotary embedding's own frequencies.
bool is_ignorable(std::string_view name) {
  return name.ends_with(".attn_rot_embd") || name.ends_with(".attn_rot_embd.weight") || name.ends_with("rotary_emb.inv_freq");
}

}  // namespace

ValueId Tensors::find(const std::string& name, std::vector<uint64_t> dims, bool needs_f32) {
  if (const auto known = values_.find(name); known != values_.end()) return known->second;
  const GgufTensor* tensor = file_.find_tensor(name);
  if (tensor == nullptr) {
    fail({Code::invalid, "tensor " + name + " is missing; expected " + shape_text(dims)});
    return kNoValue;
  }
  if (without_ones(tensor->dims) != without_ones(dims)) {
    fail({Code::invalid, "tensor " + name + " has the shape " + shape_text(tensor->dims) + "; expected " + shape_text(dims)});
    return kNoValue;
  }
  const TensorType* type = find_tensor_type(tensor->type);
  const std::string type_name = type == nullptr ? std::to_string(tensor->type) : std::string(type->name);
  if (type == nullptr || !type->usable || (needs_f32 && tensor->type != GAINZ_TYPE_F32)) {
    fail({Code::unsupported, "tensor " + name + " has the type " + type_name +
                                 (needs_f32 ? "; only F32 is usable for it" : ", which cannot be computed with")});
    return kNoValue;
  }
  const ValueId value = graph_.weight(name, tensor->type, tensor->dims);
  values_.emplace(name, value);
  weights_.emplace_back(value, tensor);
  return value;
}

ValueId Tensors::matrix(const std::string& name, std::vector<uint64_t> dims) { return find(name, std::move(dims), false); }
ValueId Tensors::vector(const std::string& name, uint64_t length) { return find(name, {length}, true); }
ValueId Tensors::optional_vector(const std::string& name, uint64_t length) {
  return has(name) ? vector(name, length) : kNoValue;
}

Status Tensors::finish() const {
  GAINZ_TRY(status_);
  for (const GgufTensor& tensor : file_.tensors()) {
    if (values_.contains(tensor.name) || is_ignorable(tensor.name)) continue;
    return {Code::unsupported,
            "tensor " + std::string(tensor.name) +
                " is not known for this architecture, so the model may mean something else than would be computed"};
  }
  return {};
}

std::vector<const GgufTensor*> Tensors::by_value() const {
  std::vector<const GgufTensor*> out;
  for (const auto& [value, tensor] : weights_) {
    if (value >= out.size()) out.resize(value + 1, nullptr);
    out[value] = tensor;
  }
  return out;
}

}  // namespace gainz
