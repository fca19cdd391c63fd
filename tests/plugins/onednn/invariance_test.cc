// Law 1 bit for bit: a row depends on its own sequence alone, whatever shares the step and however the prompt is cut.
#include <gtest/gtest.h>

#include "isas.h"

namespace gainz::test {
namespace {

using Rows = std::vector<std::vector<float>>;

class Invariance : public ::testing::Test {
 protected:
  Rows answer(const ToyShape& shape, const RunnerOptions& options, const std::vector<int32_t>& tokens, size_t chunk,
              const std::string& isa) {
    Device device(plugin_, {{"isa", isa}});
    GraphBuilder graph;
    build_toy(&graph, shape);
    Runner runner(device, &graph, options);
    Conversation c = runner.begin();
    return runner.feed(&c, tokens, chunk);
  }
  TestHost host_{2};
  Plugin plugin_{host_, plugin_path(GAINZ_BUILD_DIR, "onednn")};
};

TEST_F(Invariance, OneChunkOrMany) {
  const std::vector<int32_t> tokens = random_tokens(53, 96, 1);
  std::vector<ToyShape> shapes = {ToyShape{}, ToyShape{.window = 20, .softcap = 30, .qk_norm = true},
                                  ToyShape{.num_experts = 5}};
  for (const uint32_t type : {GAINZ_TYPE_F16, GAINZ_TYPE_BF16, GAINZ_TYPE_Q4_1, GAINZ_TYPE_Q8_0, GAINZ_TYPE_Q5_1})
    shapes.push_back(ToyShape{.weight_type = type});
  for (const std::string& isa : isas_of(plugin_)) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Rows whole = answer(shapes[i], {}, tokens, 53, isa);
      for (const size_t chunk : isa == "scalar" ? std::vector<size_t>{1, 17} : std::vector<size_t>{1, 2, 3, 5, 16, 17})
        EXPECT_EQ(answer(shapes[i], {}, tokens, chunk, isa), whole) << i << " " << chunk << isa;
      EXPECT_EQ(answer(shapes[i], {.backwards = true}, tokens, 16, isa), whole) << i;
      EXPECT_EQ(answer(shapes[i], {.one_slice_a_run = true}, tokens, 53, isa), whole) << i;
    }
  }
}

TEST_F(Invariance, EveryTypeOfBlock) {
  const std::vector<int32_t> tokens = random_tokens(20, 150, 2);
  for (const uint32_t type : {GAINZ_TYPE_Q4_0, GAINZ_TYPE_Q5_0, GAINZ_TYPE_Q2_K, GAINZ_TYPE_Q3_K, GAINZ_TYPE_Q4_K,
                              GAINZ_TYPE_Q5_K, GAINZ_TYPE_Q6_K, GAINZ_TYPE_IQ4_XS})
    for (const char* isa : {"avx2", "auto"})
      EXPECT_EQ(answer(wide_toy(type), {}, tokens, 1, isa), answer(wide_toy(type), {}, tokens, 20, isa)) << type << isa;
}

TEST_F(Invariance, LongContextsOverSeveralChunksOfAttention) {
  const std::vector<int32_t> tokens = random_tokens(560, 96, 3);
  for (const uint32_t window : {0u, 300u}) {
    for (const uint32_t type : {GAINZ_TYPE_F16, GAINZ_TYPE_Q8_0}) {
      const ToyShape shape{.num_kv_heads = 1, .num_layers = 2, .window = window};
      RunnerOptions options{.k_type = type, .v_type = type, .num_pages = 128, .max_tokens = 560, .max_pages_per_sequence = 48};
      const Rows whole = answer(shape, options, tokens, 560, "auto");
      EXPECT_EQ(answer(shape, options, tokens, 1, "auto"), whole);  // chunks of a single query run apart
      EXPECT_EQ(answer(shape, options, tokens, 123, "auto"), whole);
    }
  }
}

TEST_F(Invariance, AnyNumberOfWorkers) {
  const std::vector<int32_t> tokens = random_tokens(300, 96, 2);
  const RunnerOptions options{.max_tokens = 300, .max_pages_per_sequence = 20};
  const Rows want = answer({}, options, tokens, 300, "auto");
  for (const uint32_t num_workers : {1u, 5u}) {
    TestHost host(num_workers);
    Plugin plugin(host, plugin_path(GAINZ_BUILD_DIR, "onednn"));
    Device device(plugin);
    GraphBuilder graph;
    build_toy(&graph, {});
    Runner runner(device, &graph, options);
    Conversation c = runner.begin();
    Rows rows = runner.feed(&c, std::vector<int32_t>(tokens.begin(), tokens.begin() + 290), 290);
    for (const auto& row : runner.feed(&c, std::vector<int32_t>(tokens.begin() + 290, tokens.end()), 1)) rows.push_back(row);
    EXPECT_EQ(rows, want) << num_workers;
  }
}

TEST_F(Invariance, AloneOrInABatch) {
  for (const ToyShape& shape :
       {ToyShape{.weight_type = GAINZ_TYPE_Q4_1}, ToyShape{}, ToyShape{.weight_type = GAINZ_TYPE_Q8_0, .num_experts = 5}}) {
    Device device(plugin_);
    GraphBuilder graph;
    build_toy(&graph, shape);
    Runner runner(device, &graph, {.num_pages = 200});
    for (const size_t others : {1u, 2u, 4u, 15u}) {
      Conversation alone = runner.begin(), shared = runner.begin();
      std::vector<Conversation> crowd(others);
      const std::vector<int32_t> prompt = random_tokens(21, 96, 9);
      Rows want = runner.step({{&alone, prompt}});
      std::vector<Chunk> chunks;
      for (size_t i = 0; i < others; ++i) {
        crowd[i] = runner.begin();
        chunks.push_back({&crowd[i], random_tokens(1 + i % 5, 96, static_cast<uint32_t>(i))});
      }
      chunks.insert(chunks.begin() + static_cast<ptrdiff_t>(others / 2), Chunk{&shared, prompt});
      Rows got = runner.step(chunks);
      EXPECT_EQ(got[others / 2], want[0]) << others;
      for (int32_t token : {5, 17, 60}) {
        want = runner.step({{&alone, {token}}});
        for (Chunk& chunk : chunks) chunk.tokens = {chunk.conversation == &shared ? token : 40};
        got = runner.step(chunks);
        EXPECT_EQ(got[others / 2], want[0]) << others;
      }
    }
  }
}

}  // namespace
}  // namespace gainz::test
