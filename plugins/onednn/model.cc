#include "model.h"

#include <algorithm>
#include <cstring>

namespace gainz::onednn {

namespace {

constexpr uint64_t kMaxMatrixColumns = 1u << 24;
constexpr uint64_t kMaxMatrixRows = 1u << 28;

bool is_matrix_input(const sdk::Node& node, uint32_t i) {
  return (node.op == GAINZ_OP_EMBED && i == 0) || (node.op == GAINZ_OP_LINEAR && i == 1) ||
         (node.op == GAINZ_OP_MOE_LINEAR && i == 2);
}

bool runs(const sdk::Node& node) {
  if (node.op == GAINZ_OP_KV_WRITE || node.op == GAINZ_OP_ATTENTION) return node.attr.attention.v_head_dim <= kMaxPartColumns;
  for (uint32_t i = 0; i < node.num_inputs; ++i) {
    if (!node.has_input(i) || node.input(i).kind != GAINZ_VALUE_WEIGHT || !is_matrix_input(node, i)) continue;
    const sdk::Value& w = node.input(i);
    const TypeInfo* info = find_type(w.type);
    if (info == nullptr || w.dims[0] > kMaxMatrixColumns || w.dims[1] > kMaxMatrixRows || w.dims[0] % info->block_columns != 0)
      return false;
  }
  return true;
}

}  // namespace

Status claim(const sdk::Graph& graph, uint8_t* claims) {
  bool any = false;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    claims[i] = graph.known[i] != 0 && runs(graph.nodes[i]) ? 1 : 0;
    any = any || claims[i] != 0;
  }
  return any ? Status() : failure(GAINZ_STATUS_UNSUPPORTED, "no node of the graph is an op over types that this plugin knows");
}

Status Model::create(const Host& host, const gainz_graph* graph, const gainz_weights& weights, bool use_dnn) {
  GAINZ_SDK_TRY(graph_.read(graph));
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    if (!graph_.known[i] || !runs(graph_.nodes[i]))
      return failure(GAINZ_STATUS_UNSUPPORTED, "%s is not for this plugin", sdk::describe(graph_.nodes[i]).c_str());
  weights_.resize(graph_.values.size());
  std::vector<uint8_t> uses(graph_.values.size(), 0);  // 1: matrix, 2: vector, 4: of a LINEAR
  for (const sdk::Node& node : graph_.nodes) {
    for (uint32_t i = 0; i < node.num_inputs; ++i) {
      if (!node.has_input(i) || node.input(i).kind != GAINZ_VALUE_WEIGHT) continue;
      uint8_t& use = uses[node.inputs[i]];
      if (use == 0) total_bytes_ += sdk::weight_bytes(node.input(i));
      use = static_cast<uint8_t>(use | (is_matrix_input(node, i) ? 1 : 2) | (node.op == GAINZ_OP_LINEAR && i == 1 ? 4 : 0));
    }
  }
  for (uint32_t v = 0; v < uses.size(); ++v) {
    if (uses[v] == 0) continue;
    GAINZ_SDK_TRY(load(host, weights, v, (uses[v] & 1) != 0, (uses[v] & 2) != 0));
    Weight& w = weights_[v];
    if (use_dnn && (uses[v] & 4) != 0 && w.matrix.info->format == kDenseF32)
      w.dnn = DnnLinear::make(w.matrix.num_columns, w.matrix.num_panels, host.num_workers());
  }
  return {};
}

Status Model::load(const Host& host, const gainz_weights& source, uint32_t value, bool matrix, bool vector) {
  const sdk::Value& shape = graph_.values[value];
  Weight& w = weights_[value];
  const void* bytes = nullptr;
  uint64_t num_bytes = 0;
  char text[512] = "";
  gainz_error error{sizeof error, sizeof text, text};
  if (const gainz_status status = source.map(source.ctx, value, &bytes, &num_bytes, &error); status != GAINZ_STATUS_OK)
    return failure(status, "weight %s: %s", shape.name.c_str(), text);
  if (bytes == nullptr || num_bytes != sdk::weight_bytes(shape))
    return failure(GAINZ_STATUS_INVALID, "weight %s: %llu bytes instead of %llu", shape.name.c_str(),
                   static_cast<unsigned long long>(num_bytes), static_cast<unsigned long long>(sdk::weight_bytes(shape)));
  const auto* tensor = static_cast<const uint8_t*>(bytes);
  if (vector) {
    GAINZ_SDK_TRY(w.vector.allocate(host.table(), round_up(shape.dims[0], kPanelRows) * 4, shape.name.c_str()));
    std::memcpy(w.vector.data(), tensor, shape.dims[0] * 4);
    memory_bytes_ += w.vector.size();
  }
  bool stop = false;
  const auto progress = [&](uint64_t done) {
    stop = stop || (source.progress != nullptr && source.progress(source.ctx, done_bytes_ + done, total_bytes_) != 0);
  };
  if (matrix) {
    w.matrix.set_shape(find_type(shape.type), static_cast<uint32_t>(shape.dims[0]), static_cast<uint32_t>(shape.dims[1]),
                       static_cast<uint32_t>(shape.dims[2]));
    GAINZ_SDK_TRY(w.matrix.memory.allocate(host.table(), w.matrix.size_bytes(), shape.name.c_str()));
    memory_bytes_ += w.matrix.size_bytes();
    // In pieces of some 16 MB, so that progress is seen and a stop obeyed.
    const uint64_t panels = static_cast<uint64_t>(w.matrix.num_panels) * w.matrix.num_matrices;
    const uint64_t piece = std::max<uint64_t>(1, (16u << 20) / w.matrix.panel_bytes);
    for (uint64_t at = 0; at < panels && !stop; at += piece) {
      const uint64_t end = std::min(panels, at + piece);
      host.loop(end - at, 16, [&](uint64_t from, uint64_t to, uint32_t) { w.matrix.pack(tensor, at + from, at + to); });
      if (end < panels) progress(num_bytes / panels * end);
    }
  }
  if (!stop) progress(num_bytes);
  done_bytes_ += num_bytes;
  if (source.release != nullptr) source.release(source.ctx, value);
  return stop ? failure(GAINZ_STATUS_CANCELLED, "loading was stopped at %llu of %llu bytes",
                        static_cast<unsigned long long>(done_bytes_), static_cast<unsigned long long>(total_bytes_))
              : Status();
}

}  // namespace gainz::onednn
