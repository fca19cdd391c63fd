// The first plugin of docs/writing-a-plugin.md: it does SCALE and nothing else.
// [first]
#include "gainz/sdk/simple_backend.h"

struct First : gainz::sdk::SimpleBackend {
  static constexpr gainz::sdk::PluginInfo kInfo{.name = "first", .version = "0.1", .vendor = "me", .identity = "first 0.1"};

  bool supports(const gainz::sdk::Node& node) const override { return node.op == GAINZ_OP_SCALE; }

  void compute(const gainz::sdk::Node& node, gainz::sdk::Compute& c) const override {
    const float factor = node.attr.scale.scale;
    const float* x = c.input(0);
    float* out = c.output(0);
    for (uint64_t i = 0; i < c.rows() * node.output(0).cols(); ++i) out[i] = factor * x[i];
  }
};

GAINZ_SIMPLE_PLUGIN(First)
// [/first]
