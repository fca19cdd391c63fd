// Every op alone against the scalar kernels, in both shapes that kernels are specialised for.
#include <cstring>
#include <functional>

#include "vulkan_test.h"

namespace gainz::test {
namespace {

constexpr uint32_t kTokens = 21;  // tiles of 8, of 4 and of 1
constexpr uint32_t kOutputs = 3;

// One step over a graph of inputs alone.
class OpRun {
 public:
  OpRun(const Plugin& plugin, const OptionList& options, GraphBuilder* graph, const std::vector<std::vector<float>>& inputs)
      : device_(plugin, options) {
    check(device_->model_create(device_.get(), graph->graph(), graph->weights(), &model_, error_.get()));
    const gainz_bucket bucket{sizeof bucket, kTokens, 1, kOutputs, 4, 0};
    gainz_program* program = nullptr;
    check(device_->program_create(device_.get(), model_, nullptr, &bucket, &program, error_.get()));
    std::vector<int32_t> tokens(kTokens), positions(kTokens);
    for (uint32_t t = 0; t < kTokens; ++t) {
      positions[t] = static_cast<int32_t>(t + 11);
      tokens[t] = static_cast<int32_t>(t * 7 % 20);
    }
    const std::vector<uint32_t> offsets = {0, kTokens}, contexts = {kTokens + 11}, rows = {1, 2, 19};
    std::vector<uint32_t> masks(kOutputs * 4);
    for (size_t i = 0; i < masks.size(); ++i) masks[i] = static_cast<uint32_t>(0x9E3779B9u * (i + 1));
    std::vector<gainz_buffer> in, out;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const uint64_t cols = graph->values()[graph->inputs()[i]].dims[0];
      in.push_back({sizeof(gainz_buffer), 0, const_cast<float*>(inputs[i].data()), cols * 4});
    }
    for (const uint32_t v : graph->outputs()) {
      const gainz_value& value = graph->values()[v];
      outputs.emplace_back(value.dims[0] * (value.rows == GAINZ_ROWS_TOKENS ? kTokens : kOutputs));
      out.push_back({sizeof(gainz_buffer), 0, nullptr, value.dims[0] * 4});
    }
    for (size_t o = 0; o < out.size(); ++o) out[o].data = outputs[o].data();
    const gainz_step step{sizeof step,
                          kTokens,
                          1,
                          kOutputs,
                          tokens.data(),
                          positions.data(),
                          nullptr,
                          offsets.data(),
                          contexts.data(),
                          rows.data(),
                          nullptr,
                          0,
                          masks.data(),
                          4,
                          in.data(),
                          out.data(),
                          sizeof(gainz_buffer)};
    gainz_program_info info{};
    info.struct_size = sizeof info;
    check(device_->program_describe(device_.get(), program, &info, error_.get()));
    uint64_t ticket = 0;
    check(device_->run(device_.get(), program, &step, 0, info.num_slices, &ticket, error_.get()));
    check(device_->wait(device_.get(), ticket, UINT64_MAX, error_.get()));
  }
  std::vector<std::vector<float>> outputs;

 private:
  void check(gainz_status status) {
    if (status != GAINZ_STATUS_OK) throw std::runtime_error(error_.text());
  }
  Device device_;
  ErrorText error_;
  gainz_model* model_ = nullptr;
};

class VulkanOps : public VulkanTest {
 protected:
  using Build = std::function<void(GraphBuilder*)>;
  void compare(const char* name, const Build& build, double tolerance = 3e-6) {
    for (const char* profile : profiles()) {
      SCOPED_TRACE(std::string(name) + " " + profile);
      GraphBuilder a, b;
      build(&a);
      build(&b);
      std::vector<std::vector<float>> inputs;
      for (const uint32_t v : a.inputs()) {
        const gainz_value& value = a.values()[v];
        inputs.emplace_back(value.dims[0] * (value.rows == GAINZ_ROWS_TOKENS ? kTokens : kOutputs));
        for (size_t i = 0; i < inputs.back().size(); ++i)
          inputs.back()[i] = std::sin(static_cast<float>(i * i % 1009 + v * 31 + i)) * 2.0f;
        if (value.type == GAINZ_TYPE_I32)
          for (size_t i = 0; i < inputs.back().size(); ++i) {
            const auto id = static_cast<int32_t>(i * 5 % 7 % 5);
            std::memcpy(&inputs.back()[i], &id, 4);
          }
      }
      const OpRun want(*reference_, {}, &a, inputs), got(*plugin_, with({{"profile", profile}}), &b, inputs);
      for (size_t o = 0; o < want.outputs.size(); ++o) {
        if (a.values()[a.outputs()[o]].type == GAINZ_TYPE_I32) {
          EXPECT_EQ(std::memcmp(want.outputs[o].data(), got.outputs[o].data(), want.outputs[o].size() * 4), 0);
          continue;
        }
        double largest = 0, error = 0;
        for (size_t i = 0; i < want.outputs[o].size(); ++i) {
          const float x = want.outputs[o][i], y = got.outputs[o][i];
          if (x == y) continue;
          largest = std::max<double>(largest, std::fabs(x));
          error = std::isnan(y) || std::isinf(x) ? 1e9 : std::max<double>(error, std::fabs(x - y));
        }
        EXPECT_LE(error, tolerance * std::max(largest, 1e-3)) << "output " << o;
      }
    }
  }
};

TEST_F(VulkanOps, EmbedOfEveryFormat) {
  for (const uint32_t type :
       {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_BF16, GAINZ_TYPE_Q4_0, GAINZ_TYPE_Q4_1, GAINZ_TYPE_Q5_0, GAINZ_TYPE_Q5_1,
        GAINZ_TYPE_Q8_0, GAINZ_TYPE_Q4_K, GAINZ_TYPE_Q5_K, GAINZ_TYPE_Q6_K, GAINZ_TYPE_IQ4_NL})
    compare(("embed " + std::to_string(type)).c_str(),
            [=](GraphBuilder* g) {
              g->output(g->node(GAINZ_OP_EMBED, {g->random_weight("w", type, {512, 20})}, {512}));
            },
            1e-7);
}

TEST_F(VulkanOps, LinearOfEveryFormat) {
  for (const uint32_t type :
       {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_BF16, GAINZ_TYPE_Q4_0, GAINZ_TYPE_Q4_1, GAINZ_TYPE_Q5_0, GAINZ_TYPE_Q5_1,
        GAINZ_TYPE_Q8_0, GAINZ_TYPE_Q4_K, GAINZ_TYPE_Q5_K, GAINZ_TYPE_Q6_K})
    compare(("linear " + std::to_string(type)).c_str(), [=](GraphBuilder* g) {
      const uint32_t x = g->input("x", 512);
      g->output(g->node(GAINZ_OP_LINEAR,
                        {x, g->random_weight("w", type, {512, 37}), g->random_weight("b", GAINZ_TYPE_F32, {37})}, {37}));
    });
}

TEST_F(VulkanOps, LinearsThatAreFused) {
  compare("odd columns", [](GraphBuilder* g) {
    const uint32_t x = g->input("x", 45);
    g->output(g->node(GAINZ_OP_LINEAR, {x, g->random_weight("w", GAINZ_TYPE_F32, {45, 3})}, {3}));
  });
  compare("one input, two products, a sum", [](GraphBuilder* g) {
    const uint32_t x = g->input("x", 64), z = g->input("z", 10);
    const uint32_t a = g->node(GAINZ_OP_LINEAR, {x, g->random_weight("a", GAINZ_TYPE_Q8_0, {64, 10})}, {10});
    const uint32_t b = g->node(GAINZ_OP_LINEAR, {x, g->random_weight("b", GAINZ_TYPE_Q8_0, {64, 12})}, {12});
    g->output(g->node(GAINZ_OP_ADD, {z, a}, {10}));
    g->output(g->node(GAINZ_OP_LINEAR, {b, g->random_weight("c", GAINZ_TYPE_F32, {12, 5})}, {5}));
  });
  compare("residual", [](GraphBuilder* g) {
    const uint32_t x = g->input("x", 64), z = g->input("z", 10);
    const uint32_t a = g->node(GAINZ_OP_LINEAR, {x, g->random_weight("a", GAINZ_TYPE_Q8_0, {64, 10})}, {10});
    g->output(g->node(GAINZ_OP_ADD, {z, a}, {10}));
  });
  for (const uint32_t kind : {GAINZ_ACTIVATION_SILU, GAINZ_ACTIVATION_GELU_TANH})
    compare("gate and up", [=](GraphBuilder* g) {
      const uint32_t x = g->input("x", 64);
      const uint32_t a =
          g->node(GAINZ_OP_LINEAR,
                  {x, g->random_weight("a", GAINZ_TYPE_Q4_1, {64, 30}), g->random_weight("ab", GAINZ_TYPE_F32, {30})}, {30});
      const uint32_t b =
          g->node(GAINZ_OP_LINEAR,
                  {x, g->random_weight("b", GAINZ_TYPE_Q4_1, {64, 30}), g->random_weight("bb", GAINZ_TYPE_F32, {30})}, {30});
      g->output(g->node(GAINZ_OP_GATED_ACTIVATION, {a, b}, {30}, gainz_activation_attr{0, kind}));
    });
}

TEST_F(VulkanOps, Norms) {
  compare("rmsnorm", [](GraphBuilder* g) {
    const uint32_t x = g->input("x", 60);
    g->output(g->node(GAINZ_OP_RMSNORM, {x, g->random_weight("w", GAINZ_TYPE_F32, {20})}, {60}, gainz_norm_attr{0, 3, 1e-5f}));
    g->output(g->node(GAINZ_OP_RMSNORM, {x, GAINZ_NO_VALUE}, {60}, gainz_norm_attr{0, 1, 1e-5f}));
    const uint32_t y =
        g->node(GAINZ_OP_RMSNORM, {x, g->random_weight("v", GAINZ_TYPE_F32, {60})}, {60}, gainz_norm_attr{0, 1, 1e-5f});
    g->output(g->node(GAINZ_OP_ADD, {y, x}, {60}));
  });
  compare("layernorm", [](GraphBuilder* g) {
    const uint32_t x = g->input("x", 60);
    g->output(g->node(GAINZ_OP_LAYERNORM,
                      {x, g->random_weight("w", GAINZ_TYPE_F32, {60}), g->random_weight("b", GAINZ_TYPE_F32, {60})}, {60},
                      gainz_norm_attr{0, 1, 1e-5f}));
    g->output(g->node(GAINZ_OP_LAYERNORM, {x, GAINZ_NO_VALUE, GAINZ_NO_VALUE}, {60}, gainz_norm_attr{0, 1, 1e-5f}));
  });
}

TEST_F(VulkanOps, Rope) {
  for (const uint32_t mode : {GAINZ_ROPE_INTERLEAVED, GAINZ_ROPE_HALVES})
    compare("rope", [=](GraphBuilder* g) {
      const uint32_t x = g->input("x", 60);
      g->output(g->node(GAINZ_OP_ROPE, {x, g->random_weight("f", GAINZ_TYPE_F32, {8}, 3)}, {60},
                        gainz_rope_attr{0, mode, 3, 20, 16, 0, 10000, 0.5f, 0, 0, 0, 1.25f}));
      g->output(g->node(GAINZ_OP_ROPE, {x}, {60}, gainz_rope_attr{0, mode, 3, 20, 20, 32, 10000, 0.25f, 1, 32, 1, 1}));
    });
}

TEST_F(VulkanOps, ElementwiseOps) {
  for (uint32_t kind = GAINZ_ACTIVATION_SILU; kind <= GAINZ_ACTIVATION_RELU2; ++kind)
    compare(("activation " + std::to_string(kind)).c_str(), [=](GraphBuilder* g) {
      const uint32_t x = g->input("x", 33), z = g->input("z", 33);
      g->output(g->node(GAINZ_OP_ACTIVATION, {x}, {33}, gainz_activation_attr{0, kind}));
      g->output(g->node(GAINZ_OP_GATED_ACTIVATION, {x, z}, {33}, gainz_activation_attr{0, kind}));
    });
  compare("arithmetic", [](GraphBuilder* g) {
    const uint32_t x = g->input("x", 33), z = g->input("z", 33);
    g->output(g->node(GAINZ_OP_ADD, {x, z}, {33}));
    g->output(g->node(GAINZ_OP_ADD, {x, x}, {33}));
    g->output(g->node(GAINZ_OP_MUL, {x, z}, {33}));
    g->output(g->node(GAINZ_OP_MUL, {x, g->random_weight("w", GAINZ_TYPE_F32, {33})}, {33}));
    g->output(g->node(GAINZ_OP_SCALE, {x}, {33}, gainz_scale_attr{0, -2.5f}));
    g->output(g->node(GAINZ_OP_SOFTCAP, {x}, {33}, gainz_scale_attr{0, 1.5f}));
    g->output(g->node(GAINZ_OP_SOFTCAP, {x}, {33}, gainz_scale_attr{0, 30.0f}));
    const uint32_t rows = g->node(GAINZ_OP_GATHER_ROWS, {x}, {33}, GAINZ_ROWS_OUTPUTS);
    g->output(rows);
    g->output(g->node(GAINZ_OP_LOGIT_MASK, {rows}, {33}, GAINZ_ROWS_OUTPUTS));
  });
}

TEST_F(VulkanOps, Choices) {
  compare("top k", [](GraphBuilder* g) {
    const uint32_t x = g->input("x", 100, GAINZ_ROWS_OUTPUTS);
    const uint32_t values = g->node(GAINZ_OP_TOP_K, {x}, {17, 17}, gainz_top_k_attr{0, 17}, GAINZ_ROWS_OUTPUTS);
    g->output(values);
    g->output(values + 1);
  });
  for (const uint32_t normalize : {0u, 1u})
    compare("route", [=](GraphBuilder* g) {
      const uint32_t x = g->input("x", 20);
      const uint32_t ids = g->node(GAINZ_OP_MOE_ROUTE, {x}, {4, 4}, gainz_moe_route_attr{0, 4, normalize, 2.5f});
      g->output(ids);
      g->output(ids + 1);
    });
}

TEST_F(VulkanOps, MoeLinear) {
  compare("moe", [](GraphBuilder* g) {
    const uint32_t x = g->input("x", 64), ids = g->input("ids", 2, GAINZ_ROWS_TOKENS, GAINZ_TYPE_I32), w = g->input("w", 2);
    const uint32_t y = g->node(GAINZ_OP_MOE_LINEAR, {x, ids, g->random_weight("a", GAINZ_TYPE_Q8_0, {64, 32, 5})}, {64},
                               gainz_moe_linear_attr{0, 2, 1});
    g->output(y);
    g->output(g->node(GAINZ_OP_MOE_LINEAR, {y, ids, g->random_weight("b", GAINZ_TYPE_Q4_0, {32, 19, 5}), w}, {19},
                      gainz_moe_linear_attr{0, 2, 2}));
  });
}

}  // namespace
}  // namespace gainz::test
