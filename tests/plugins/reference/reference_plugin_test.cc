// The plugin "reference" as a host meets it: loaded by path, fed in pages. Law 1 is checked bit for bit.
#include <gtest/gtest.h>

#include <cstring>

#include "support/plugin_harness.h"

namespace gainz::test {
namespace {

using Rows = std::vector<std::vector<float>>;

class ReferencePlugin : public ::testing::Test {
 protected:
  TestHost host_{2};
  Plugin plugin_{host_, plugin_path(GAINZ_BUILD_DIR, "reference")};
};

Rows answer(const Plugin& plugin, const ToyShape& shape, const RunnerOptions& options, const std::vector<int32_t>& tokens,
            size_t chunk) {
  Device device(plugin);
  GraphBuilder graph;
  build_toy(&graph, shape);
  Runner runner(device, &graph, options);
  Conversation c = runner.begin();
  return runner.feed(&c, tokens, chunk);
}

TEST_F(ReferencePlugin, SaysWhatItIs) {
  EXPECT_STREQ(plugin_.table().name, "reference");
  gainz_device_desc desc{};
  uint32_t count = 0;
  ASSERT_EQ(plugin_.table().device_list(host_.get(), &desc, sizeof desc, 1, &count, nullptr), GAINZ_STATUS_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_STREQ(desc.isa, "scalar");
  for (uint32_t type : {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_BF16, GAINZ_TYPE_Q8_0})
    EXPECT_TRUE(desc.kv_types >> type & 1u);
  EXPECT_EQ(desc.flags & (GAINZ_DEVICE_PHASES_DIFFER | GAINZ_DEVICE_BATCH_VARIANT), 0u);
}

TEST_F(ReferencePlugin, TheSameBitsInOneChunkOrMany) {
  const std::vector<int32_t> tokens = random_tokens(53, 96, 1);
  for (const ToyShape& shape :
       {ToyShape{}, ToyShape{.window = 20, .softcap = 30, .qk_norm = true}, ToyShape{.num_experts = 5}}) {
    const Rows whole = answer(plugin_, shape, {}, tokens, 53);
    EXPECT_EQ(answer(plugin_, shape, {}, tokens, 1), whole);
    EXPECT_EQ(answer(plugin_, shape, {}, tokens, 7), whole);
    EXPECT_EQ(answer(plugin_, shape, {.backwards = true}, tokens, 16), whole);
    EXPECT_EQ(answer(plugin_, shape, {.one_slice_a_run = true}, tokens, 53), whole);
  }
}

TEST_F(ReferencePlugin, TheSameBitsWithOneWorkerOrFive) {
  const std::vector<int32_t> tokens = random_tokens(40, 96, 2);
  const Rows want = answer(plugin_, {}, {}, tokens, 40);
  for (uint32_t num_workers : {1u, 5u}) {
    TestHost host(num_workers);
    EXPECT_EQ(answer(Plugin(host, plugin_path(GAINZ_BUILD_DIR, "reference")), {}, {}, tokens, 40), want);
  }
}

TEST_F(ReferencePlugin, TheSameBitsAloneOrInABatch) {
  Device device(plugin_);
  GraphBuilder graph;
  build_toy(&graph, {.window = 18, .num_experts = 4});
  Runner runner(device, &graph);
  std::vector<Conversation> crowd(6, runner.begin());
  std::vector<Chunk> chunks;
  for (uint32_t i = 0; i < crowd.size(); ++i) chunks.push_back({&crowd[i], random_tokens(5 + 4 * i, 96, i), true});
  const Rows together = runner.step(chunks);
  size_t row = 0;
  for (uint32_t i = 0; i < crowd.size(); ++i) {
    Conversation alone = runner.begin();
    for (const auto& logits : runner.feed(&alone, random_tokens(5 + 4 * i, 96, i), 64)) EXPECT_EQ(logits, together[row++]);
  }
}

TEST_F(ReferencePlugin, ForkedPagesAreCopies) {
  Device device(plugin_);
  GraphBuilder graph;
  build_toy(&graph, {.window = 24});
  Runner runner(device, &graph);
  Conversation first = runner.begin();
  runner.feed(&first, random_tokens(27, 96, 5), 27);
  Conversation second = runner.fork(first);
  Conversation third = runner.fork(first);
  const Rows a = runner.feed(&second, random_tokens(9, 96, 6), 9);
  runner.feed(&first, random_tokens(9, 96, 7), 9);  // must not reach into the copies
  EXPECT_EQ(runner.feed(&third, random_tokens(9, 96, 6), 4), a);
}

TEST_F(ReferencePlugin, PagesTravelToAnotherDevice) {
  for (uint32_t type : {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_BF16, GAINZ_TYPE_Q8_0}) {
    GraphBuilder graph;
    build_toy(&graph, {.window = 24});
    const RunnerOptions options{.k_type = type, .v_type = type};
    Device here(plugin_);
    Device there(plugin_);
    Runner one(here, &graph, options);
    Runner two(there, &graph, options);
    Conversation c = one.begin();
    one.feed(&c, random_tokens(37, 96, 8), 37);
    Conversation moved = two.begin();
    moved.length = c.length;
    two.new_page(0);  // other numbers there
    ErrorText error;
    for (uint32_t g = 0; g < c.pages.size(); ++g) {
      std::vector<uint8_t> bytes(one.page_bytes(g));
      for (uint32_t page : c.pages[g]) {
        moved.pages[g].push_back(two.new_page(g));
        ASSERT_EQ(here->kv_export_page(here.get(), one.kv(), g, page, bytes.data(), bytes.size(), error.get()), 0)
            << error.text();
        ASSERT_EQ(
            there->kv_import_page(there.get(), two.kv(), g, moved.pages[g].back(), bytes.data(), bytes.size(), error.get()), 0);
      }
    }
    EXPECT_EQ(two.feed(&moved, random_tokens(12, 96, 9), 5), one.feed(&c, random_tokens(12, 96, 9), 12));
  }
}

TEST_F(ReferencePlugin, NarrowPagesStayNearWidePages) {
  const std::vector<int32_t> tokens = random_tokens(40, 96, 3);
  const Rows want = answer(plugin_, {}, {}, tokens, 40);
  const std::pair<uint32_t, double> limits[] = {{GAINZ_TYPE_F16, 1e-3}, {GAINZ_TYPE_BF16, 8e-3}, {GAINZ_TYPE_Q8_0, 1e-2}};
  for (const auto& [type, limit] : limits) {
    const Rows got = answer(plugin_, {}, {.k_type = type, .v_type = type}, tokens, 40);
    EXPECT_NE(got, want);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_LT(relative_error(got[i], want[i]), limit) << "KV type " << type << ", token " << i;
  }
}

TEST_F(ReferencePlugin, NothingIsAllocatedByARunAndNothingStays) {
  {
    Device device(plugin_);
    GraphBuilder graph;
    build_toy(&graph);
    Runner runner(device, &graph);
    Conversation c = runner.begin();
    const uint64_t before = host_.num_allocations();
    runner.feed(&c, random_tokens(20, 96, 4), 6);
    EXPECT_EQ(host_.num_allocations(), before);
    EXPECT_GT(host_.live_bytes(), 0u);
  }
  EXPECT_EQ(host_.live_bytes(), 0u);
}

}  // namespace
}  // namespace gainz::test
