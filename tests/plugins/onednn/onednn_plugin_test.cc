// The plugin "onednn" as a host meets it, against the plugin "reference": every weight type on every instruction set of this
// machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "isas.h"

namespace gainz::test {
namespace {

using Rows = std::vector<std::vector<float>>;

class OnednnPlugin : public ::testing::Test {
 protected:
  // The logits of `chunk` tokens in one step.
  Rows answer(const Plugin& plugin, const ToyShape& shape, const RunnerOptions& options, size_t chunk,
              const std::string& isa = "auto") {
    Device device(plugin, {{"isa", isa}});
    GraphBuilder graph;
    build_toy(&graph, shape);
    Runner runner(device, &graph, options);
    Conversation c = runner.begin();
    return runner.feed(&c, random_tokens(chunk, shape.vocabulary, 7), chunk);
  }
  double worst(const Rows& a, const Rows& b) {
    double worst = 0;
    for (size_t r = 0; r < a.size(); ++r) {
      const double error = relative_error(a[r], b[r]);
      worst = std::isnan(error) ? 1e9 : std::max(worst, error);
    }
    return worst;
  }
  TestHost host_{2};
  Plugin plugin_{host_, plugin_path(GAINZ_BUILD_DIR, "onednn")};
  Plugin reference_{host_, plugin_path(GAINZ_BUILD_DIR, "reference")};
};

TEST_F(OnednnPlugin, SaysWhatItIs) {
  EXPECT_STREQ(plugin_.table().name, "onednn");
  gainz_device_desc desc{};
  uint32_t count = 0;
  ASSERT_EQ(plugin_.table().device_list(host_.get(), &desc, sizeof desc, 1, &count, nullptr), GAINZ_STATUS_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(desc.kind, GAINZ_DEVICE_CPU);
  const bool has_tiles = std::string_view(desc.isa) == "amx";
  EXPECT_EQ(desc.flags, GAINZ_DEVICE_SHARES_MEMORY | (has_tiles ? GAINZ_DEVICE_PHASES_DIFFER : 0u));
  EXPECT_GT(desc.memory_bytes, desc.free_bytes);
  EXPECT_THAT(desc.identity, ::testing::StartsWith("onednn-0.1.0-"));
  EXPECT_THAT(desc.identity, ::testing::HasSubstr(desc.isa));
}

TEST_F(OnednnPlugin, RefusesUnknownOptionsAndLowersTheInstructionSet) {
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"isa", "avx1024"}, {"prefill", "fast"}, {"threads", "2"}})
    EXPECT_THROW(Device(plugin_, {{key, value}}), std::runtime_error) << key;
  Device(plugin_, {{"prefill", "auto"}});
  Device exact(plugin_, {{"prefill", "exact"}});  // prompt tokens on the kernels of the others
  gainz_device_desc exact_desc{};
  exact_desc.struct_size = sizeof exact_desc;
  ASSERT_EQ(exact->describe(exact.get(), &exact_desc, nullptr), GAINZ_STATUS_OK);
  EXPECT_EQ(exact_desc.flags, GAINZ_DEVICE_SHARES_MEMORY);
  Device device(plugin_, {{"isa", "scalar"}});
  gainz_device_desc desc{};
  desc.struct_size = sizeof desc;
  ASSERT_EQ(device->describe(device.get(), &desc, nullptr), GAINZ_STATUS_OK);
  EXPECT_STREQ(desc.isa, "scalar");
  EXPECT_STREQ(desc.identity, "onednn-0.1.0-scalar");
}

// F32 activations all the way: only the order of sums differs. Quantized weights meet activations of 8 bits.
TEST_F(OnednnPlugin, AnswersAsTheReferenceForEveryWeightType) {
  const std::vector<std::pair<uint32_t, double>> types = {
      {GAINZ_TYPE_F32, 2e-5},  {GAINZ_TYPE_F16, 2e-5},    {GAINZ_TYPE_BF16, 2e-5},   {GAINZ_TYPE_Q4_0, 0.04},
      {GAINZ_TYPE_Q4_1, 0.04}, {GAINZ_TYPE_Q5_0, 0.04},   {GAINZ_TYPE_Q5_1, 0.04},   {GAINZ_TYPE_Q8_0, 0.04},
      {GAINZ_TYPE_Q2_K, 0.04}, {GAINZ_TYPE_Q3_K, 0.04},   {GAINZ_TYPE_Q4_K, 0.04},   {GAINZ_TYPE_Q5_K, 0.04},
      {GAINZ_TYPE_Q6_K, 0.04}, {GAINZ_TYPE_IQ4_NL, 0.04}, {GAINZ_TYPE_IQ4_XS, 0.04}, {GAINZ_TYPE_MXFP4, 0.04}};
  const std::vector<std::string> isas = isas_of(plugin_);
  for (const auto& [type, tolerance] : types) {
    const Rows want = answer(reference_, wide_toy(type), {}, 12);
    for (const std::string& isa : isas) {
      const double error = worst(answer(plugin_, wide_toy(type), {}, 12, isa), want);
      EXPECT_LT(error, tolerance) << "type " << type << " on " << isa;
    }
  }
}

TEST_F(OnednnPlugin, AnswersAsTheReferenceForEveryShapeAndKvType) {
  std::vector<ToyShape> shapes = {ToyShape{}, ToyShape{.window = 20, .softcap = 30, .qk_norm = true},
                                  ToyShape{.num_experts = 5},
                                  ToyShape{.vocabulary = 97, .num_heads = 6, .num_kv_heads = 1, .head_dim = 40, .ffn = 70},
                                  ToyShape{.num_heads = 12, .num_kv_heads = 1, .head_dim = 8}};
  for (const std::string& isa : isas_of(plugin_)) {
    for (size_t i = 0; i < shapes.size(); ++i)
      EXPECT_LT(worst(answer(plugin_, shapes[i], {}, 45, isa), answer(reference_, shapes[i], {}, 45)), 2e-5) << i << isa;
    for (const uint32_t type : {GAINZ_TYPE_F16, GAINZ_TYPE_Q8_0}) {
      const RunnerOptions options{.k_type = type, .v_type = type == GAINZ_TYPE_F16 ? GAINZ_TYPE_Q8_0 : GAINZ_TYPE_F16};
      EXPECT_LT(worst(answer(plugin_, {}, options, 45, isa), answer(reference_, {}, options, 45)), 1e-3) << type << isa;
    }
  }
}

TEST_F(OnednnPlugin, PagesTravelToTheReferenceAndBack) {
  for (const uint32_t type : {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_Q8_0}) {
    const RunnerOptions options{.k_type = type, .v_type = type};
    Device device(plugin_);
    GraphBuilder graph;
    build_toy(&graph, {.window = 20});
    Runner runner(device, &graph, options);
    for (uint32_t group = 0; group < graph.groups().size(); ++group) {
      std::vector<uint8_t> page(runner.page_bytes(group)), back(page.size());
      for (size_t i = 0; i < page.size(); ++i) page[i] = static_cast<uint8_t>(i * 7 + i / 251);
      ASSERT_EQ(device->kv_import_page(device.get(), runner.kv(), group, 3, page.data(), page.size(), nullptr),
                GAINZ_STATUS_OK);
      const gainz_page_copy copy{3, 5};
      ASSERT_EQ(device->kv_copy_pages(device.get(), runner.kv(), group, &copy, 1, nullptr), GAINZ_STATUS_OK);
      ASSERT_EQ(device->kv_export_page(device.get(), runner.kv(), group, 5, back.data(), back.size(), nullptr),
                GAINZ_STATUS_OK);
      EXPECT_EQ(back, page);
      EXPECT_EQ(device->kv_export_page(device.get(), runner.kv(), group, 5, back.data(), back.size() - 1, nullptr),
                GAINZ_STATUS_INVALID);
      EXPECT_EQ(device->kv_export_page(device.get(), runner.kv(), group, 999, back.data(), back.size(), nullptr),
                GAINZ_STATUS_INVALID);
    }
  }
}

// The bytes of a page are those that the reference stores, but for the rounding of what went into them.
TEST_F(OnednnPlugin, ExportsWhatTheReferenceExports) {
  const RunnerOptions options{.k_type = GAINZ_TYPE_F32, .v_type = GAINZ_TYPE_F32};
  std::vector<std::vector<float>> pages;
  for (const Plugin* plugin : {&plugin_, &reference_}) {
    Device device(*plugin);
    GraphBuilder graph;
    build_toy(&graph, {});
    Runner runner(device, &graph, options);
    Conversation c = runner.begin();
    runner.feed(&c, random_tokens(16, 96, 3), 16);
    std::vector<float> page(runner.page_bytes(0) / 4);
    ASSERT_EQ(device->kv_export_page(device.get(), runner.kv(), 0, c.pages[0][0], page.data(), page.size() * 4, nullptr),
              GAINZ_STATUS_OK);
    pages.push_back(page);
  }
  EXPECT_LT(relative_error(pages[0], pages[1]), 1e-5);
}

TEST_F(OnednnPlugin, RefusesBrokenSteps) {
  Device device(plugin_);
  GraphBuilder graph;
  build_toy(&graph, {});
  Runner runner(device, &graph);
  Conversation c = runner.begin();
  const Rows want = runner.step({{&c, random_tokens(20, 96, 4), true}});
  uint64_t ticket = 0;
  const gainz_step good = *runner.last_step();
  const auto run = [&](const gainz_step& step, uint32_t first = 0, uint32_t slices = 1) {
    return device->run(device.get(), runner.program(), &step, first, slices, &ticket, nullptr);
  };
  const auto broken = [&](auto change) {
    gainz_step step = good;
    change(&step);
    return run(step);
  };
  ASSERT_EQ(run(good), GAINZ_STATUS_OK);
  EXPECT_EQ(broken([](gainz_step* s) { s->num_tokens = 0; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->num_tokens = 129; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->num_sequences = 17; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->tokens = nullptr; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->pages = nullptr; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->outputs = nullptr; }), GAINZ_STATUS_INVALID);
  const auto with = [&](auto& array, size_t i, auto value) {
    const auto old = array[i];
    array[i] = static_cast<std::remove_cvref_t<decltype(old)>>(value);
    const gainz_status status = run(good);
    array[i] = old;
    return status;
  };
  EXPECT_EQ(with(runner.tokens, 3, 96), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with(runner.tokens, 3, -1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with(runner.positions, 3, 4), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with(runner.slots[0], 3, 64 * 16), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with(runner.tables[0], 1, 64), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with(runner.contexts, 0, 16 * 16 + 1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with(runner.rows, 5, 4), GAINZ_STATUS_INVALID);
  EXPECT_EQ(run(good, runner.num_slices(), 1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(run(good, 0, runner.num_slices() + 1), GAINZ_STATUS_INVALID);
  ASSERT_EQ(run(good, 0, runner.num_slices()), GAINZ_STATUS_OK);
  EXPECT_EQ(std::memcmp(runner.output_bytes[0].data(), want[0].data(), want[0].size() * 4), 0);
}

TEST_F(OnednnPlugin, GivesEveryByteBackAndSurvivesFailedAllocations) {
  TestHost host(1);
  Plugin plugin(host, plugin_path(GAINZ_BUILD_DIR, "onednn"));
  for (int64_t n = 0;; ++n) {
    host.fail_allocation(n);
    bool done = false;
    try {
      answer(plugin, {}, {}, 45);
      done = true;
    } catch (const std::runtime_error& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("bytes")) << n;
    }
    host.fail_allocation(-1);
    EXPECT_EQ(host.live_bytes(), 0u) << n;
    if (done) break;
    ASSERT_LT(n, 200);
  }
}

TEST_F(OnednnPlugin, LoadingStopsWhenAsked) {
  Device device(plugin_);
  GraphBuilder graph;
  build_toy(&graph, {});
  graph.cancel_after = 3;
  gainz_model* model = nullptr;
  EXPECT_EQ(device->model_create(device.get(), graph.graph(), graph.weights(), &model, nullptr), GAINZ_STATUS_CANCELLED);
}

}  // namespace
}  // namespace gainz::test
