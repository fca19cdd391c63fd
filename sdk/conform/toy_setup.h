// A device that claims the whole toy, for tests of programs and pages. Ends the test as unsupported where it does not.
#ifndef GAINZ_SDK_CONFORM_TOY_SETUP_H
#define GAINZ_SDK_CONFORM_TOY_SETUP_H

#include "conform/suite.h"

namespace gainz::conform {

struct ToySetup {
  explicit ToySetup(Trial& trial, const ToyShape& shape = {.window = 20})
      : plugin(trial.host, trial.subject.path), device(plugin, trial.subject.options, trial.subject.device) {
    GraphBuilder graph;
    build_toy(&graph, shape);
    require_claims(graph);
    gainz_device_desc desc{};
    desc.struct_size = sizeof desc;
    ErrorText error;
    GAINZ_REQUIRE(device->describe(device.get(), &desc, error.get()) == GAINZ_STATUS_OK, "describe: %s", error.text().c_str());
    flags = desc.flags;
    kv_types = desc.kv_types;
  }
  void require_claims(GraphBuilder& graph) const {
    std::vector<uint8_t> claims(graph.nodes().size());
    ErrorText error;
    if (device->model_claim(device.get(), graph.graph(), claims.data(), error.get()) != GAINZ_STATUS_OK)
      unsupported("not claimed: %s", error.text().c_str());
    for (size_t i = 0; i < claims.size(); ++i)
      if (claims[i] == 0) unsupported("node %zu (op %u) of the model is not claimed", i, graph.nodes()[i].op);
  }
  Plugin plugin;
  Device device;
  uint32_t flags = 0, kv_types = 0;
};

}  // namespace gainz::conform

#endif
