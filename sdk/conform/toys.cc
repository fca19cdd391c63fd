#include "conform/toys.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace gainz::conform {
namespace {

constexpr char kMagic[8] = "GZTOY1\0";
constexpr uint32_t kMaxCount = 1 << 20;

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class T>
  T number() {
    T value;
    take(&value, sizeof value);
    return value;
  }
  uint32_t count() {
    const auto n = number<uint32_t>();
    if (n > kMaxCount) throw std::runtime_error("a count of " + std::to_string(n) + " is beyond " + std::to_string(kMaxCount));
    return n;
  }
  void take(void* to, uint64_t num_bytes) {
    if (num_bytes > bytes_.size() - at_) throw std::runtime_error("the file is cut short at byte " + std::to_string(at_));
    std::memcpy(to, bytes_.data() + at_, num_bytes);
    at_ += num_bytes;
  }
  template <class Bytes>
  Bytes block(uint64_t num_bytes) {
    if (num_bytes > bytes_.size() - at_) throw std::runtime_error("the file is cut short at byte " + std::to_string(at_));
    Bytes out(bytes_.begin() + static_cast<ptrdiff_t>(at_), bytes_.begin() + static_cast<ptrdiff_t>(at_ + num_bytes));
    at_ += num_bytes;
    return out;
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void read_toy(const std::string& path, GraphBuilder& graph) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path + ": cannot be read");
  Reader in(std::string((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>()));
  if (in.block<std::string>(sizeof kMagic) != std::string(kMagic, sizeof kMagic))
    throw std::runtime_error(path + ": it is no toy model");
  const uint32_t num_values = in.count(), num_nodes = in.count(), num_groups = in.count(), num_inputs = in.count(),
                 num_outputs = in.count();
  for (uint32_t v = 0; v < num_values; ++v) {
    gainz_value value{};
    value.struct_size = sizeof value;
    value.kind = in.number<uint32_t>();
    value.type = in.number<uint32_t>();
    value.rows = in.number<uint32_t>();
    in.take(value.dims, sizeof value.dims);
    const auto name = in.block<std::string>(in.count());
    graph.add_raw_value(value, name, in.block<std::vector<uint8_t>>(in.number<uint64_t>()));
  }
  for (uint32_t n = 0; n < num_nodes; ++n) {
    gainz_node node{};
    node.struct_size = sizeof node;
    node.op = in.number<uint32_t>();
    node.num_inputs = in.number<uint32_t>();
    node.num_outputs = in.number<uint32_t>();
    node.layer = in.number<uint32_t>();
    in.take(node.inputs, sizeof node.inputs);
    in.take(node.outputs, sizeof node.outputs);
    graph.add_raw_node(node, in.block<std::vector<uint8_t>>(in.count()));
  }
  for (uint32_t g = 0; g < num_groups; ++g) {
    gainz_page_group group{};
    group.struct_size = sizeof group;
    for (uint32_t* field : {&group.num_layers, &group.num_kv_heads, &group.k_head_dim, &group.v_head_dim, &group.window})
      *field = in.number<uint32_t>();
    graph.group(group);
  }
  for (uint32_t i = 0; i < num_inputs; ++i) graph.add_raw_input(in.number<uint32_t>());
  for (uint32_t i = 0; i < num_outputs; ++i) graph.output(in.number<uint32_t>());
}

std::string write_toy(const gainz_graph& graph, const gainz_weights& weights) {
  std::string out(kMagic, sizeof kMagic);
  for (const uint32_t n : {graph.num_values, graph.num_nodes, graph.num_page_groups, graph.num_inputs, graph.num_outputs})
    put(out, n);
  for (uint32_t v = 0; v < graph.num_values; ++v) {
    const gainz_value& value = graph.values[v];
    for (const uint32_t n : {value.kind, value.type, value.rows}) put(out, n);
    for (const uint64_t dim : value.dims) put(out, dim);
    const std::string name = value.name ? value.name : "";
    put(out, static_cast<uint32_t>(name.size()));
    out += name;
    const void* bytes = nullptr;
    uint64_t num_bytes = 0;
    if (value.kind == GAINZ_VALUE_WEIGHT && weights.map(weights.ctx, v, &bytes, &num_bytes, nullptr) != GAINZ_STATUS_OK)
      throw std::runtime_error("no weight " + name);
    put(out, num_bytes);
    out.append(static_cast<const char*>(bytes), num_bytes);
  }
  for (uint32_t n = 0; n < graph.num_nodes; ++n) {
    const gainz_node& node = graph.nodes[n];
    for (const uint32_t field : {node.op, node.num_inputs, node.num_outputs, node.layer}) put(out, field);
    for (const uint32_t v : node.inputs) put(out, v);
    for (const uint32_t v : node.outputs) put(out, v);
    uint32_t num_bytes = 0;  // an op's struct begins with its size
    if (node.attributes) std::memcpy(&num_bytes, node.attributes, sizeof num_bytes);
    put(out, num_bytes);
    out.append(static_cast<const char*>(node.attributes), num_bytes);
  }
  for (uint32_t g = 0; g < graph.num_page_groups; ++g) {
    const gainz_page_group& group = graph.page_groups[g];
    for (const uint32_t field : {group.num_layers, group.num_kv_heads, group.k_head_dim, group.v_head_dim, group.window})
      put(out, field);
  }
  for (uint32_t i = 0; i < graph.num_inputs; ++i) put(out, graph.inputs[i]);
  for (uint32_t i = 0; i < graph.num_outputs; ++i) put(out, graph.outputs[i]);
  return out;
}

}  // namespace gainz::conform
