#include <algorithm>
#include <cstring>

#include "border.h"
#include "handles.h"

namespace gainz::sdk {

// KV_WRITE and ATTENTION of a group stand or fall together.
static void join_groups(const Graph& graph, std::vector<uint8_t>* claims) {
  std::vector<uint8_t> refused(graph.groups.size(), 0);
  auto group_of = [&](const Node& node) {
    const bool kv = node.op == GAINZ_OP_KV_WRITE || node.op == GAINZ_OP_ATTENTION;
    return kv && graph.known[node.index] ? node.attr.attention.group : GAINZ_NO_VALUE;
  };
  for (const Node& node : graph.nodes) {
    if (group_of(node) != GAINZ_NO_VALUE && (*claims)[node.index] == 0) refused[group_of(node)] = 1;
  }
  for (const Node& node : graph.nodes) {
    if (group_of(node) != GAINZ_NO_VALUE && refused[group_of(node)] != 0) (*claims)[node.index] = 0;
  }
}

static std::vector<uint8_t> claims_of(const gainz_device& device, const Graph& graph) {
  std::vector<uint8_t> claims(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes) claims[node.index] = graph.known[node.index] && device.backend->supports(node) ? 1 : 0;
  join_groups(graph, &claims);
  return claims;
}

Status claim(const gainz_device& device, const gainz_graph* graph, uint8_t* out_claims) {
  if (out_claims == nullptr) return failure(GAINZ_STATUS_INVALID, "model_claim: out_claims is NULL");
  Graph own;
  GAINZ_SDK_TRY(own.read(graph));
  const std::vector<uint8_t> claims = claims_of(device, own);
  if (std::find(claims.begin(), claims.end(), 1) == claims.end()) {
    return failure(GAINZ_STATUS_UNSUPPORTED, "%s runs none of the graph's %zu nodes; the first is %s", device.info.name,
                   claims.size(), describe(own.nodes[0]).c_str());
  }
  std::copy(claims.begin(), claims.end(), out_claims);
  return {};
}

// f32 weights are read in place as floats, so their bytes must be aligned; the others are read byte by byte.
static Status align_weight(const gainz_device& device, const gainz_weights& source, uint32_t v, uint64_t bytes,
                           gainz_model* model) {
  const auto address = reinterpret_cast<uintptr_t>(model->weights[v]);
  if (model->graph.values[v].type != GAINZ_TYPE_F32 || address % alignof(float) == 0) return {};
  HostMemory copy;
  GAINZ_SDK_TRY(copy.allocate(device.host, bytes, model->graph.values[v].name.c_str()));
  std::memcpy(copy.data(), model->weights[v], bytes);
  model->weights[v] = copy.data();
  model->copies.push_back(std::move(copy));
  if (source.release != nullptr) source.release(source.ctx, v);
  return {};
}

static Status pull_weights(const gainz_device& device, const gainz_weights& source, gainz_model* model) {
  std::vector<uint8_t> used(model->graph.values.size(), 0);
  for (const Node& node : model->graph.nodes) {
    for (uint32_t i = 0; i < node.num_inputs; ++i) {
      if (node.has_input(i) && node.input(i).kind == GAINZ_VALUE_WEIGHT) used[node.inputs[i]] = 1;
    }
  }
  uint64_t total = 0;
  for (uint32_t v = 0; v < used.size(); ++v) total += used[v] ? weight_bytes(model->graph.values[v]) : 0;
  for (uint32_t v = 0; v < used.size(); ++v) {
    if (!used[v]) continue;
    const uint64_t expected = weight_bytes(model->graph.values[v]);
    uint64_t bytes = 0;
    char text[400] = {};
    gainz_error error{sizeof(gainz_error), sizeof text, text};
    const gainz_status status = source.map(source.ctx, v, &model->weights[v], &bytes, &error);
    if (status != GAINZ_STATUS_OK) return failure(status, "%s: %s", model->graph.values[v].name.c_str(), text);
    if (model->weights[v] == nullptr || bytes != expected) {
      return failure(GAINZ_STATUS_INVALID, "%s has %llu bytes where its shape asks for %llu",
                     model->graph.values[v].name.c_str(), static_cast<unsigned long long>(bytes),
                     static_cast<unsigned long long>(expected));
    }
    GAINZ_SDK_TRY(align_weight(device, source, v, bytes, model));
    model->weight_bytes += bytes;
    if (source.progress != nullptr && source.progress(source.ctx, model->weight_bytes, total) != 0) {
      return failure(GAINZ_STATUS_CANCELLED, "model_create was cancelled by the host after %llu of %llu bytes",
                     static_cast<unsigned long long>(model->weight_bytes), static_cast<unsigned long long>(total));
    }
  }
  return {};
}

Status create_model(gainz_device& device, const gainz_graph* graph, const gainz_weights* weights, gainz_model** out_model) {
  if (out_model == nullptr) return failure(GAINZ_STATUS_INVALID, "model_create: out_model is NULL");
  gainz_weights source{};
  GAINZ_SDK_TRY(read_struct(weights, &source, "gainz_weights"));
  if (source.map == nullptr) return failure(GAINZ_STATUS_INVALID, "model_create: gainz_weights.map is NULL");
  auto model = std::make_unique<gainz_model>();
  GAINZ_SDK_TRY(model->graph.read(graph));
  const std::vector<uint8_t> claims = claims_of(device, model->graph);
  for (const Node& node : model->graph.nodes) {
    if (claims[node.index] != 0) continue;
    return failure(GAINZ_STATUS_UNSUPPORTED, "%s does not run %s", device.info.name, describe(node).c_str());
  }
  model->weights.assign(model->graph.values.size(), nullptr);
  GAINZ_SDK_TRY(pull_weights(device, source, model.get()));
  device.models.push_back(std::move(model));
  *out_model = device.models.back().get();
  return {};
}

}  // namespace gainz::sdk
