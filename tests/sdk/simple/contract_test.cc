// SimpleBackend at its C border: what a host may do wrong, and what a backend may.
#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <stdexcept>

#include "gainz/sdk/reference_backend.h"
#include "gainz/sdk/simple_backend.h"
#include "reference/linear.h"
#include "support/plugin_harness.h"

namespace gainz::test {
namespace {

using sdk::Compute;
using sdk::Node;

// A backend that does nothing but LINEAR.
struct LinearOnly : sdk::SimpleBackend {
  static constexpr sdk::PluginInfo kInfo{.name = "linear_only", .identity = "test"};
  bool supports(const Node& node) const override { return node.op == GAINZ_OP_LINEAR; }
  uint64_t scratch_bytes(const Node& node, const gainz_bucket&) const override { return node.input(1).dims[0] * sizeof(float); }
  void compute(const Node& node, Compute& c) const override {
    if (node.op != GAINZ_OP_LINEAR) throw std::logic_error("a node that was never claimed");
    const sdk::Weight w = c.weight(1);
    c.parallel_for(w.n, 4, [&](uint64_t begin, uint64_t end, uint32_t worker) {
      reference::linear(c.input(0), w.type, w.data, c.input(2), c.output(0), c.rows(), w.k, begin, end, w.n,
                        static_cast<float*>(c.scratch(worker)));
    });
  }
};

// All of the reference but attention of group 0.
struct NoAttention : sdk::SimpleBackend {
  static constexpr sdk::PluginInfo kInfo{.name = "no_attention", .identity = "test"};
  bool supports(const Node& node) const override { return node.op != GAINZ_OP_ATTENTION || node.attr.attention.group != 0; }
  void compute(const Node&, Compute&) const override {}
};

enum class Fault { kRuntimeError, kBadAlloc, kNoException, kOnWorker };
template <Fault fault>
struct Faulty : sdk::SimpleBackend {
  static constexpr sdk::PluginInfo kInfo{.name = "faulty", .identity = "test"};
  bool supports(const Node&) const override { return true; }
  void compute(const Node&, Compute& c) const override {
    if (fault == Fault::kRuntimeError) throw std::runtime_error("the kernel is out of luck");
    if (fault == Fault::kBadAlloc) throw std::bad_alloc();
    if (fault == Fault::kNoException) throw 7;
    c.parallel_for(100, 1, [](uint64_t begin, uint64_t, uint32_t) {
      if (begin % 3 == 1) throw std::runtime_error("on a worker");
    });
  }
};

// logits = linear(x), given from outside as the runtime cuts a graph.
void build_linear(GraphBuilder* g) {
  const uint32_t x = g->input("x", 64);
  g->output(g->node(GAINZ_OP_LINEAR,
                    {x, g->random_weight("w", GAINZ_TYPE_Q8_0, {64, 40}), g->random_weight("b", GAINZ_TYPE_F32, {40})}, {40}));
}

struct LinearStep {
  std::vector<float> x = std::vector<float>(5 * 70), y = std::vector<float>(5 * 41, -1.0f);
  int32_t positions[5] = {0, 1, 2, 3, 4};
  uint32_t offsets[2] = {0, 5};
  uint32_t context = 5;
  gainz_buffer in{sizeof in, 0, x.data(), 70 * 4};
  gainz_buffer out{sizeof out, 0, y.data(), 41 * 4};
  gainz_step step{};
  LinearStep() {
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 23) - 11;
    step.struct_size = sizeof step;
    step.num_tokens = 5;
    step.num_sequences = 1;
    step.positions = positions;
    step.query_offsets = offsets;
    step.context_lengths = &context;
    step.inputs = &in;
    step.outputs = &out;
    step.buffer_stride = sizeof(gainz_buffer);
  }
};

struct Opened {
  TestHost host{3};
  Plugin plugin;
  Device device;
  GraphBuilder graph;
  gainz_model* model = nullptr;
  gainz_program* program = nullptr;
  ErrorText error;
  explicit Opened(gainz_plugin_query_fn query) : plugin(host, query), device(plugin) { build_linear(&graph); }
  gainz_status create() {
    const gainz_status status = device->model_create(device.get(), graph.graph(), graph.weights(), &model, error.get());
    if (status != GAINZ_STATUS_OK) return status;
    const gainz_bucket bucket{sizeof bucket, 8, 4, 8, 1, 0};
    return device->program_create(device.get(), model, nullptr, &bucket, &program, error.get());
  }
  gainz_status run(const gainz_step* step) {
    uint64_t ticket = 0;
    return device->run(device.get(), program, step, 0, 1, &ticket, error.get());
  }
};

TEST(SimpleBackend, LinearAloneServesACutGraphInHostMemory) {
  Opened o(sdk::simple_query<LinearOnly>);
  ASSERT_EQ(o.create(), GAINZ_STATUS_OK) << o.error.text();
  LinearStep s;
  ASSERT_EQ(o.run(&s.step), GAINZ_STATUS_OK) << o.error.text();
  std::vector<float> want(5 * 40), room(64), dense(5 * 64);
  for (size_t r = 0; r < 5; ++r) std::memcpy(&dense[r * 64], &s.x[r * 70], 64 * sizeof(float));
  const auto* bias = reinterpret_cast<const float*>(o.graph.weight_bytes(2).data());
  reference::linear(dense.data(), GAINZ_TYPE_Q8_0, o.graph.weight_bytes(1).data(), bias, want.data(), 5, 64, 0, 40, 40,
                    room.data());
  for (size_t r = 0; r < 5; ++r) {
    for (size_t c = 0; c < 40; ++c) EXPECT_EQ(s.y[r * 41 + c], want[r * 40 + c]);
    EXPECT_EQ(s.y[r * 41 + 40], -1.0f);  // between the rows nothing is written
  }
  s.out.data = nullptr;  // not wanted
  EXPECT_EQ(o.run(&s.step), GAINZ_STATUS_OK) << o.error.text();
  s.in.data = nullptr;
  EXPECT_EQ(o.run(&s.step), GAINZ_STATUS_INVALID);
}

TEST(SimpleBackend, ClaimsOnlyWhatItSupports) {
  TestHost host;
  Plugin plugin(host, sdk::simple_query<LinearOnly>);
  Device device(plugin);
  GraphBuilder g;
  build_toy(&g);
  std::vector<uint8_t> claims(g.nodes().size(), 9);
  ErrorText error;
  ASSERT_EQ(device->model_claim(device.get(), g.graph(), claims.data(), error.get()), GAINZ_STATUS_OK) << error.text();
  for (size_t i = 0; i < claims.size(); ++i) EXPECT_EQ(claims[i], g.nodes()[i].op == GAINZ_OP_LINEAR ? 1 : 0);
  gainz_model* model = nullptr;
  EXPECT_EQ(device->model_create(device.get(), g.graph(), g.weights(), &model, error.get()), GAINZ_STATUS_UNSUPPORTED);
  EXPECT_NE(error.text().find("node 0 (embed)"), std::string::npos) << error.text();
}

TEST(SimpleBackend, KvWriteAndAttentionOfAGroupGoTogether) {
  TestHost host;
  Plugin plugin(host, sdk::simple_query<NoAttention>);
  Device device(plugin);
  GraphBuilder g;
  build_toy(&g, {.window = 20});
  std::vector<uint8_t> claims(g.nodes().size());
  ASSERT_EQ(device->model_claim(device.get(), g.graph(), claims.data(), nullptr), GAINZ_STATUS_OK);
  for (size_t i = 0; i < claims.size(); ++i) {
    const gainz_node& node = g.nodes()[i];
    const bool kv = node.op == GAINZ_OP_KV_WRITE || node.op == GAINZ_OP_ATTENTION;
    EXPECT_EQ(claims[i], kv && static_cast<const gainz_attention_attr*>(node.attributes)->group == 0 ? 0 : 1) << i;
  }
}

TEST(SimpleBackend, NothingToClaimIsUnsupported) {
  TestHost host;
  Plugin plugin(host, sdk::simple_query<LinearOnly>);
  Device device(plugin);
  GraphBuilder g;
  g.output(g.node(GAINZ_OP_SCALE, {g.input("x", 8)}, {8}, gainz_scale_attr{0, 2}));
  uint8_t claim = 9;
  ErrorText error;
  EXPECT_EQ(device->model_claim(device.get(), g.graph(), &claim, error.get()), GAINZ_STATUS_UNSUPPORTED);
  EXPECT_NE(error.text().find("linear_only"), std::string::npos);
}

TEST(SimpleBackend, WhatAKernelThrowsBecomesAStatus) {
  LinearStep s;
  const std::pair<gainz_plugin_query_fn, gainz_status> faults[] = {
      {sdk::simple_query<Faulty<Fault::kRuntimeError>>, GAINZ_STATUS_INTERNAL},
      {sdk::simple_query<Faulty<Fault::kBadAlloc>>, GAINZ_STATUS_OUT_OF_HOST_MEMORY},
      {sdk::simple_query<Faulty<Fault::kNoException>>, GAINZ_STATUS_INTERNAL},
      {sdk::simple_query<Faulty<Fault::kOnWorker>>, GAINZ_STATUS_INTERNAL}};
  for (const auto& [query, status] : faults) {
    Opened o(query);
    ASSERT_EQ(o.create(), GAINZ_STATUS_OK);
    EXPECT_EQ(o.run(&s.step), status);
    EXPECT_FALSE(o.error.text().empty());
    EXPECT_EQ(o.run(&s.step), status);  // the device stays in use
  }
}

TEST(SimpleBackend, AHostOfAnotherVersionIsRefusedWithBothNamed) {
  TestHost host;
  host.mutable_host()->abi_minor = 9;
  gainz_plugin table{};
  table.struct_size = sizeof table;
  ErrorText error;
  EXPECT_EQ(gainz_reference_query(host.get(), &table, error.get()), GAINZ_STATUS_UNSUPPORTED);
  EXPECT_NE(error.text().find("0.1"), std::string::npos) << error.text();
  EXPECT_NE(error.text().find("0.9"), std::string::npos) << error.text();
  EXPECT_EQ(gainz_reference_query(nullptr, &table, nullptr), GAINZ_STATUS_INVALID);
}

TEST(SimpleBackend, AShorterTableGetsItsPartAndALongerStructIsRead) {
  TestHost host;
  struct {
    gainz_plugin table;
    uint64_t after;
  } room{};
  room.table.struct_size = 32;
  room.after = 77;
  ASSERT_EQ(gainz_reference_query(host.get(), &room.table, nullptr), GAINZ_STATUS_OK);
  EXPECT_EQ(room.table.struct_size, sizeof(gainz_plugin));
  EXPECT_NE(room.table.version, nullptr);
  EXPECT_EQ(room.table.vendor, nullptr);
  EXPECT_EQ(room.after, 77u);

  struct {
    gainz_host host;
    uint64_t tail;
  } later{*host.get(), 0};
  later.host.struct_size = sizeof later;
  EXPECT_EQ(gainz_reference_query(&later.host, &room.table, nullptr), GAINZ_STATUS_OK);
  later.tail = 1;
  EXPECT_EQ(gainz_reference_query(&later.host, &room.table, nullptr), GAINZ_STATUS_UNSUPPORTED);
}

TEST(SimpleBackend, OptionsAreKnownOrRefused) {
  TestHost host;
  Plugin plugin(host, gainz_reference_query);
  using Options = std::vector<std::pair<std::string, std::string>>;
  EXPECT_NO_THROW(Device(plugin, {{"isa", "avx2"}, {"prefill", "exact"}}));
  for (const Options& bad : {Options{{"isa", "avx9"}}, Options{{"threads", "2"}}, Options{{"prefill", ""}},
                             Options{{"isa", "scalar"}, {"isa", "scalar"}}}) {
    EXPECT_THROW(Device(plugin, bad), std::runtime_error);
  }
  EXPECT_THROW(Device(plugin, {}, 1), std::runtime_error);
}

TEST(SimpleBackend, ErrorsAreCutAtAWholeCharacter) {
  char text[6] = "xxxxx";
  gainz_error error{sizeof error, 5, text};
  sdk::write_error(&error, "ab\xC3\xA9\xC3\xA9");  // four bytes fit: "ab" and one character of two bytes
  EXPECT_STREQ(text, "ab\xC3\xA9");
  error.text_capacity = 4;
  sdk::write_error(&error, "ab\xC3\xA9");
  EXPECT_STREQ(text, "ab");
  error.text_capacity = 0;
  sdk::write_error(&error, "zzz");
  EXPECT_STREQ(text, "ab");
  sdk::write_error(nullptr, "no room");
}

TEST(SimpleBackend, EveryAllocationOfTheHostMayFail) {
  TestHost host;
  Plugin plugin(host, gainz_reference_query);
  uint32_t failures = 0;
  for (int64_t n = 0;; ++n) {
    Device device(plugin);
    GraphBuilder graph;
    build_toy(&graph, {.window = 20});
    host.fail_allocation(n);
    try {
      Runner runner(device, &graph);
      host.fail_allocation(-1);
      Conversation c = runner.begin();
      EXPECT_EQ(runner.feed(&c, {1, 2, 3}, 3).size(), 3u);
      break;
    } catch (const std::runtime_error& e) {
      ++failures;
      EXPECT_NE(std::string(e.what()).find("status 5"), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(failures, 3u);  // two page groups and the program's scratch
  EXPECT_EQ(host.live_bytes(), 0u);
}

TEST(SimpleBackend, ModelCreateCanBeCancelled) {
  Opened o(gainz_reference_query);
  o.graph.cancel_after = 1;
  EXPECT_EQ(o.create(), GAINZ_STATUS_CANCELLED);
  EXPECT_EQ(o.create(), GAINZ_STATUS_OK);
}

TEST(SimpleBackend, AForgottenOrderLeavesNothingDangling) {
  Opened o(gainz_reference_query);
  ASSERT_EQ(o.create(), GAINZ_STATUS_OK);
  o.device->model_destroy(o.device.get(), o.model);  // takes its programs along
  LinearStep s;
  EXPECT_EQ(o.run(&s.step), GAINZ_STATUS_INVALID);
  o.device->program_destroy(o.device.get(), o.program);
  o.device->model_destroy(o.device.get(), o.model);
  EXPECT_EQ(o.host.live_bytes(), 0u);
  ASSERT_EQ(o.create(), GAINZ_STATUS_OK);  // and what is left goes with the device
}

TEST(SimpleBackend, ScratchIsReused) {
  // A chain of 50 layers needs no more activations than one of 3.
  uint64_t bytes[2];
  for (int i = 0; i < 2; ++i) {
    TestHost host(1);
    Plugin plugin(host, gainz_reference_query);
    Device device(plugin);
    GraphBuilder g;
    uint32_t x = g.input("x", 64);
    for (int layer = 0; layer < (i == 0 ? 3 : 50); ++layer) x = g.node(GAINZ_OP_SCALE, {x}, {64}, gainz_scale_attr{0, 2});
    g.output(x);
    Runner runner(device, &g);
    gainz_program_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(device->program_describe(device.get(), runner.program(), &info, nullptr), GAINZ_STATUS_OK);
    bytes[i] = info.memory_bytes;
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

}  // namespace
}  // namespace gainz::test
