#include "model/model.h"

#include <algorithm>

#include "model/model_impl.h"

namespace gainz {
namespace {

// What one generated token costs: every weight is read once, of the embedding one row, of experts the chosen ones.
struct Costs {
  uint64_t weight_bytes = 0, ops = 0;
};

Costs count_costs(const Blueprint& blueprint) {
  const gainz_graph& graph = *blueprint.graph.view();
  Costs costs;
  std::vector<double> share(graph.num_values, 0.0);  // of a weight that is read
  for (uint32_t i = 0; i < graph.num_nodes; ++i) {
    const gainz_node& node = graph.nodes[i];
    for (uint32_t j = 0; j < node.num_inputs; ++j) {
      const uint32_t v = node.inputs[j];
      if (v == GAINZ_NO_VALUE || blueprint.tensors[v] == nullptr) continue;
      const auto& dims = graph.values[v].dims;
      double part = 1.0;
      if (node.op == GAINZ_OP_EMBED) part = 1.0 / double(dims[1]);
      if (node.op == GAINZ_OP_MOE_LINEAR) {
        const auto num_chosen = static_cast<const gainz_moe_linear_attr*>(node.attributes)->num_chosen;
        part = double(num_chosen) / double(dims[2]);
        costs.ops += 2 * dims[0] * dims[1] * num_chosen;
      }
      if (node.op == GAINZ_OP_LINEAR && j == 1) costs.ops += 2 * dims[0] * dims[1];
      share[v] = std::max(share[v], part);
    }
  }
  for (uint32_t v = 0; v < graph.num_values; ++v)
    if (share[v] > 0) costs.weight_bytes += uint64_t(share[v] * double(blueprint.tensors[v]->data.size()) + 0.5);
  return costs;
}

Status check_options(const ModelOptions& options) {
  if (options.path.empty()) return {Code::invalid, "no model file is named"};
  if (options.backend.empty()) return {Code::invalid, "no backend is named; \"auto\" chooses one"};
  if (options.fallback != "error" && options.fallback != "scalar")
    return {Code::invalid, "fallback is \"" + options.fallback + "\"; allowed are error, scalar"};
  return {};
}

ModelInfo describe_model(const Gguf& file, const Blueprint& blueprint) {
  const Hyperparameters& h = blueprint.hyper;
  const Costs costs = count_costs(blueprint);
  ModelInfo info;
  info.architecture = h.architecture;
  info.name = h.name;
  info.vocab_size = h.vocab_size;
  info.context_length = h.context_length;
  info.num_layers = h.num_layers;
  info.embedding_length = h.embedding_length;
  info.num_tensors = file.tensors().size();
  for (const GgufTensor& tensor : file.tensors()) {
    uint64_t elements = 1;
    for (const uint64_t dim : tensor.dims) elements *= dim;
    info.num_parameters += elements;
  }
  info.file_bytes = file.size_bytes();
  info.weight_bytes_per_token = costs.weight_bytes;
  info.ops_per_token = costs.ops;
  const gainz_graph& graph = *blueprint.graph.view();
  info.page_groups.assign(graph.page_groups, graph.page_groups + graph.num_page_groups);
  return info;
}

// onednn, reference, then the others in the registry's order.
std::vector<std::string> backends_to_try(const PluginRegistry& plugins) {
  std::vector<std::string> names;
  for (const char* preferred : {"onednn", "reference"})
    for (const PluginEntry& entry : plugins.entries())
      if (entry.name == preferred && std::find(names.begin(), names.end(), entry.name) == names.end())
        names.push_back(entry.name);
  for (const PluginEntry& entry : plugins.entries())
    if (!entry.name.empty() && std::find(names.begin(), names.end(), entry.name) == names.end()) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<Model>> load_on(const std::string& backend, const Services& services, PluginRegistry& plugins,
                                       const LoadedFile& loaded, const ModelOptions& options) {
  GAINZ_ASSIGN(auto plugin, plugins.find(backend));
  return ModelImpl::create(services, loaded, std::move(plugin), options);
}

}  // namespace

Result<LoadedFile> load_file(const ModelOptions& options) {
  LoadedFile loaded;
  GAINZ_ASSIGN(loaded.file, Gguf::open(options.path, {.use_mmap = options.use_mmap}));
  auto blueprint = build_model(*loaded.file);
  if (!blueprint.ok()) return Status(blueprint.status().code(), "model " + options.path + ": " + blueprint.status().message());
  loaded.blueprint = std::make_shared<const Blueprint>(std::move(blueprint).value());
  loaded.info = describe_model(*loaded.file, *loaded.blueprint);
  return loaded;
}

Result<std::unique_ptr<Model>> Model::load(const Services& services, PluginRegistry& plugins, const ModelOptions& options) {
  GAINZ_TRY(check_options(options));
  if (options.progress && !options.progress("file", 0.0)) return Status(Code::cancelled, "loading the model was stopped");
  GAINZ_ASSIGN(const LoadedFile loaded, load_file(options));
  if (options.backend != "auto") return load_on(options.backend, services, plugins, loaded, options);
  std::string reasons;
  for (const std::string& backend : backends_to_try(plugins)) {
    auto model = load_on(backend, services, plugins, loaded, options);
    if (model.ok() || model.status().code() == Code::cancelled) return model;
    services.log(LogLevel::warning, "backend " + backend + " was passed over: " + model.status().message());
    reasons += (reasons.empty() ? "" : "; ") + model.status().message();
  }
  return Status(Code::unsupported, "no backend can serve this model: " + (reasons.empty() ? "there is no plugin" : reasons));
}

}  // namespace gainz
