// Models: toys of each architecture from end to end; and random legal graphs.
#include <unistd.h>

#include "conform/compare.h"
#include "conform/toy_setup.h"
#include "conform/toys.h"
#include "gainz/sdk/reference_backend.h"

namespace gainz::conform {
namespace {

// Prompt, then tokens one by one with the same tokens on both sides, against the scalar kernels.
void judge(Trial& trial, const Device& device, GraphBuilder& graph, const RunnerOptions& options, uint64_t vocabulary,
           double bound, const char* what) {
  const Plugin scalar(trial.host, gainz_reference_query);
  const Device truth_device(scalar);
  Runner runner(device, &graph, options), truth(truth_device, &graph, options);
  Conversation a = runner.begin(), b = truth.begin();
  const auto prompt = random_tokens(41, vocabulary, static_cast<uint32_t>(trial.subject.seed));
  require_near(runner.feed(&a, prompt, 24), truth.feed(&b, prompt, 24), bound, what);
  for (int32_t i = 0; i < 6; ++i) {
    const int32_t token = i * 7 % static_cast<int32_t>(vocabulary);
    require_near(runner.step({{&a, {token}, true, GAINZ_PHASE_GENERATED}}),
                 truth.step({{&b, {token}, true, GAINZ_PHASE_GENERATED}}), bound, what);
  }
  runner.require_canaries();
}

void architecture(Trial& trial, const std::string& name) {
  const std::string path = trial.subject.toys + "/" + name + ".toy";
  if (access(path.c_str(), R_OK) != 0) unsupported("%s is not there; --toys names its folder", path.c_str());
  GraphBuilder graph;
  read_toy(path, graph);
  const Plugin plugin(trial.host, trial.subject.path);
  const Device device(plugin, trial.subject.options, trial.subject.device);
  std::vector<uint8_t> claims(graph.nodes().size());
  ErrorText error;
  if (device->model_claim(device.get(), graph.graph(), claims.data(), error.get()) != GAINZ_STATUS_OK)
    unsupported("not claimed: %s", error.text().c_str());
  for (size_t i = 0; i < claims.size(); ++i)
    if (claims[i] == 0) unsupported("node %zu (op %u) is not claimed", i, graph.nodes()[i].op);
  uint64_t vocabulary = 0;
  for (const gainz_node& node : graph.nodes())
    if (node.op == GAINZ_OP_EMBED) vocabulary = graph.values()[node.inputs[0]].dims[1];
  judge(trial, device, graph, {}, vocabulary, model_bound(GAINZ_TYPE_Q8_0) * 2, name.c_str());
}

// Shapes, types, windows, experts and norms drawn from the seed.
void random_graphs(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  const Device device(plugin, trial.subject.options, trial.subject.device);
  auto& random = trial.random;
  const auto one_of = [&](auto... values) {
    const auto list = {static_cast<uint64_t>(values)...};
    return *(list.begin() + static_cast<ptrdiff_t>(random() % list.size()));
  };
  size_t num_done = 0, num_skipped = 0;
  for (int i = 0; i < 24; ++i) {
    ToyShape shape;
    shape.weight_type = static_cast<uint32_t>(one_of(GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_Q8_0, GAINZ_TYPE_Q4_0,
                                                     GAINZ_TYPE_Q4_1, GAINZ_TYPE_Q5_0, GAINZ_TYPE_Q5_1));
    const bool is_quantized = shape.weight_type != GAINZ_TYPE_F32 && shape.weight_type != GAINZ_TYPE_F16;
    const uint64_t unit = is_quantized ? 32 : one_of(1, 3, 8, 32);
    shape.vocabulary = 1 + random() % 130;
    shape.num_kv_heads = one_of(1, 2, 3);
    shape.num_heads = shape.num_kv_heads * one_of(1, 2, 3, 5);
    shape.head_dim = is_quantized ? 32 * one_of(1, 2) : 2 * one_of(2, 8, 16, 20, 32);
    shape.width = unit * (1 + random() % 5);
    shape.ffn = unit * (1 + random() % 7);
    shape.num_layers = static_cast<uint32_t>(1 + random() % 3);
    shape.window = static_cast<uint32_t>(one_of(0, 0, 1, 7, 24));
    if (shape.num_layers == 1) shape.window = 0;
    shape.softcap = one_of(0, 1) ? 25.0f : 0.0f;
    shape.qk_norm = one_of(0, 1) != 0;
    shape.num_experts = static_cast<uint32_t>(one_of(0, 0, 2, 6));
    GraphBuilder graph;
    build_toy(&graph, shape);
    std::vector<uint8_t> claims(graph.nodes().size());
    bool all = device->model_claim(device.get(), graph.graph(), claims.data(), nullptr) == GAINZ_STATUS_OK;
    for (const uint8_t claim : claims) all = all && claim == 1;
    if (!all) {
      ++num_skipped;
      continue;
    }
    char what[160];
    std::snprintf(what, sizeof what,
                  "graph %d of seed %llu (%s, width %llu, heads %llu:%llu of %llu, ffn %llu, %u layers, window %u, experts %u)",
                  i, static_cast<unsigned long long>(trial.subject.seed), type_name(shape.weight_type),
                  static_cast<unsigned long long>(shape.width), static_cast<unsigned long long>(shape.num_heads),
                  static_cast<unsigned long long>(shape.num_kv_heads), static_cast<unsigned long long>(shape.head_dim),
                  static_cast<unsigned long long>(shape.ffn), shape.num_layers, shape.window, shape.num_experts);
    // A router that stands on the edge sends a token elsewhere for the smallest difference.
    const double bound = model_bound(shape.weight_type) * (shape.num_experts ? 25 : 2);
    judge(trial, device, graph, {}, shape.vocabulary, bound, what);
    ++num_done;
  }
  if (num_done == 0) unsupported("no graph is claimed as a whole");
  trial.note("%zu graphs, %zu not claimed", num_done, num_skipped);
}

}  // namespace

void add_model_tests(std::vector<Test>& tests) {
  for (const char* name : {"llama", "qwen2", "qwen3", "gemma3", "qwen3moe"})
    tests.push_back({std::string("models.") + name, "a toy of the architecture, end to end",
                     [name = std::string(name)](Trial& trial) { architecture(trial, name); }, 60});
  tests.push_back({"fuzz.graphs", "random legal graphs, as the scalar kernels", random_graphs, 120});
}

}  // namespace gainz::conform
