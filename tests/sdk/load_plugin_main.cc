// sdk_load_plugin PLUGIN REFERENCE: loads a plugin by path and serves toy graphs with it beside the reference plugin; exit 0
// when both agree. What the template's test runs on what it built.
#include <cstdio>
#include <exception>

#include "support/plugin_harness.h"

using namespace gainz::test;

static std::vector<std::vector<float>> serve(const Plugin& plugin, uint32_t weight_type) {
  Device device(plugin);
  GraphBuilder graph;
  build_toy(&graph, {.weight_type = weight_type, .window = 20});
  Runner runner(device, &graph);
  Conversation c = runner.begin();
  return runner.feed(&c, random_tokens(30, 96, 1), 9);
}

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  TestHost host;
  Plugin mine(host, argv[1]);
  Plugin reference(host, argv[2]);
  for (uint32_t type : {GAINZ_TYPE_F32, GAINZ_TYPE_Q8_0, GAINZ_TYPE_Q4_1}) {
    const auto got = serve(mine, type);
    const auto want = serve(reference, type);
    for (size_t i = 0; i < want.size(); ++i) {
      const double error = relative_error(got[i], want[i]);
      if (error < 1e-5) continue;
      std::printf("%s: weight type %u, token %zu: relative error %g\n", mine.table().name, type, i, error);
      return 1;
    }
  }
  std::printf("%s agrees\n", mine.table().name);
  return 0;
} catch (const std::exception& e) {
  std::printf("%s\n", e.what());
  return 1;
}
