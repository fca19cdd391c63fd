// Law 1 through the whole stack: a request's tokens and logits do not depend on what it shares the machine with.
#include <algorithm>

#include "runtime/api/api_fixture.h"

namespace gainz::test {
namespace {

struct Backend {
  const char* name;
  const char* kv_type;
};

class SameTokens : public testing::TestWithParam<Backend> {
 protected:
  // change(gainz_runtime_config&, gainz_model_config&)
  struct Setup {
    uint32_t num_threads = 1, batch_tokens = 64;
    uint64_t kv_memory_bytes = 0;
    bool prefix_cache = true;
  };
  struct Loaded {
    TestRuntime runtime;
    gainz_model_id model;
    Loaded(const Backend& backend, const Setup& setup)
        : runtime([&](gainz_runtime_config& c) { c.num_threads = setup.num_threads; }),
          model(runtime.load(tiny_file().path, [&](gainz_model_config& c) {
            c.backend = backend.name;
            c.kv_type = backend.kv_type;
            c.batch_tokens = setup.batch_tokens;
            c.kv_memory_bytes = setup.kv_memory_bytes;
            c.no_prefix_cache = !setup.prefix_cache;
          })) {}
  };
  static Ask question() {
    Ask ask = Ask::prompt(some_ids(70, 1), 24);
    ask.config.sampling.temperature = 0.9f;
    ask.config.sampling.seed = 7;
    ask.config.sampling.ignore_eos = 1;
    return ask;
  }
  // Prompt and what was generated for it, the latter fed one by one; a row for each of the last 40.
  static Ask rows_of(const std::vector<int32_t>& generated) {
    std::vector<int32_t> ids = some_ids(70, 1);
    ids.insert(ids.end(), generated.begin(), generated.end());
    std::vector<uint32_t> positions;
    for (size_t i = ids.size() - 40; i < ids.size(); ++i) positions.push_back(uint32_t(i));
    return Ask::logits(ids, positions, generated.size());
  }
  static std::vector<Ask> company(size_t count) {
    std::vector<Ask> asks;
    for (size_t i = 0; i < count; ++i) {
      asks.push_back(Ask::prompt(some_ids(3 + 11 * i, 100 + i), int32_t(10 + i)));
      asks.back().config.sampling.temperature = 1.1f;
      asks.back().config.sampling.seed = i;
      asks.back().config.sampling.ignore_eos = 1;
    }
    return asks;
  }
  static void expect_same(const Answer& a, const Answer& b, const char* how) {
    ASSERT_EQ(a.code, GAINZ_OK) << how << a.error;
    ASSERT_EQ(b.code, GAINZ_OK) << how << b.error;
    EXPECT_EQ(a.ids, b.ids) << how;
    EXPECT_EQ(a.text, b.text) << how;
    ASSERT_EQ(a.logits.size(), b.logits.size()) << how;
    const bool same_bits =
        a.logits.empty() || std::memcmp(a.logits.data(), b.logits.data(), a.logits.size() * sizeof(float)) == 0;
    EXPECT_TRUE(same_bits) << how << ": logits differ in their bits";
  }
};

TEST_P(SameTokens, alone_in_company_chunked_cached_preempted_and_on_any_number_of_threads) {
  Loaded alone(GetParam(), {.prefix_cache = false});
  const Answer tokens = alone.runtime.ask(alone.model, question());
  ASSERT_EQ(tokens.code, GAINZ_OK) << tokens.error;
  ASSERT_EQ(tokens.ids.size(), 24u);
  const Answer rows = alone.runtime.ask(alone.model, rows_of(tokens.ids));
  ASSERT_EQ(rows.code, GAINZ_OK) << rows.error;
  ASSERT_EQ(rows.logits.size(), 40u * kTinyVocab);

  {
    std::vector<Ask> asks = company(14);
    asks.insert(asks.begin() + 7, {question(), rows_of(tokens.ids)});
    const auto answers = alone.runtime.ask_all(alone.model, asks);
    expect_same(tokens, answers[7], "with 15 others");
    expect_same(rows, answers[8], "with 15 others");
  }
  for (const uint32_t batch_tokens : {16u, 23u, 512u}) {
    Loaded chunked(GetParam(), {.batch_tokens = batch_tokens});
    expect_same(tokens, chunked.runtime.ask(chunked.model, question()), "in chunks");
    expect_same(rows, chunked.runtime.ask(chunked.model, rows_of(tokens.ids)), "in chunks");
    const Answer hit = chunked.runtime.ask(chunked.model, question());
    EXPECT_GE(hit.num_cached, 64u);
    expect_same(tokens, hit, "from the prefix cache");
  }
  for (const uint32_t after : {1u, 9u, 23u}) {
    Ask ask = question();
    ask.config.preempt_after = after;
    ask.config.flags = after == 9 ? GAINZ_REQUEST_NO_CACHE : 0;
    const Answer preempted = alone.runtime.ask(alone.model, ask);
    EXPECT_EQ(preempted.num_preemptions, 1u);
    expect_same(tokens, preempted, "preempted");
  }
  for (const uint32_t num_threads : {2u, 3u}) {
    Loaded wide(GetParam(), {.num_threads = num_threads});
    expect_same(tokens, wide.runtime.ask(wide.model, question()), "on more threads");
    expect_same(rows, wide.runtime.ask(wide.model, rows_of(tokens.ids)), "on more threads");
  }
}

// Pages for little more than one context: everybody pushes everybody out.
TEST_P(SameTokens, under_constant_preemption) {
  Loaded roomy(GetParam(), {.prefix_cache = false});
  std::vector<Ask> asks = company(10);
  for (Ask& ask : asks) ask.config.sampling.max_tokens = 60;
  std::vector<Answer> expected;
  for (const Ask& ask : asks) expected.push_back(roomy.runtime.ask(roomy.model, ask));
  gainz_model_info info{sizeof(gainz_model_info)};
  ASSERT_EQ(gainz_model_get(roomy.runtime, roomy.model, &info), GAINZ_OK);

  Loaded tight(GetParam(), {.kv_memory_bytes = info.kv_bytes_per_token * (512 + 32)});
  const auto answers = tight.runtime.ask_all(tight.model, asks);
  for (size_t i = 0; i < asks.size(); ++i) expect_same(expected[i], answers[i], "tight");
  EXPECT_GT(tight.runtime.stats(tight.model).num_preemptions, 0u);
}

INSTANTIATE_TEST_SUITE_P(backends, SameTokens,
                         testing::Values(Backend{"reference", "f32"}, Backend{"reference", "f16"}, Backend{"onednn", "f16"}),
                         [](const auto& test) { return std::string(test.param.name) + "_" + test.param.kv_type; });

// Conversations whose pages are evicted all the time never see each other's.
TEST(prefix_cache, pb18_eviction_brings_no_crosstalk) {
  TestRuntime plain, busy;
  const gainz_model_id truth = plain.load(tiny_file().path, [](gainz_model_config& c) { c.no_prefix_cache = 1; });
  gainz_model_info info{sizeof(gainz_model_info)};
  ASSERT_EQ(gainz_model_get(plain, truth, &info), GAINZ_OK);
  const gainz_model_id model =
      busy.load(tiny_file().path, [&](gainz_model_config& c) { c.kv_memory_bytes = info.kv_bytes_per_token * (512 + 16); });
  constexpr size_t kConversations = 30;
  const std::vector<int32_t> shared = some_ids(32, 5);  // all begin alike
  std::vector<Ask> asks;
  std::vector<Answer> expected;
  for (size_t i = 0; i < kConversations; ++i) {
    std::vector<int32_t> ids = shared;
    const auto own = some_ids(20 + i, 1000 + i);
    ids.insert(ids.end(), own.begin(), own.end());
    asks.push_back(Ask::prompt(ids, 6));
    asks.back().config.sampling.ignore_eos = 1;
    expected.push_back(plain.ask(truth, asks.back()));
  }
  uint64_t cached = 0;
  for (size_t round = 0; round < 20; ++round) {
    std::vector<Ask> group;
    std::vector<size_t> who;
    for (size_t k = 0; k < 2 + round % 15; ++k)
      who.push_back((round * 7 + k * 11) % kConversations), group.push_back(asks[who.back()]);
    const auto answers = busy.ask_all(model, group);
    for (size_t k = 0; k < who.size(); ++k) {
      ASSERT_EQ(answers[k].ids, expected[who[k]].ids) << "round " << round << ", conversation " << who[k];
      cached += answers[k].num_cached;
    }
  }
  EXPECT_GT(cached, 0u);
  EXPECT_EQ(busy.stats(model).pages_used, 0u);
}

TEST(prefix_cache, pb19_long_prompts_repeated_and_changed_in_one_place) {
  TestRuntime runtime;
  const gainz_model_id plain = runtime.load(tiny_file().path, [](gainz_model_config& c) { c.no_prefix_cache = 1; });
  const gainz_model_id cached = runtime.load();
  for (const size_t length : {size_t{511}, size_t{510}, size_t{496}, size_t{495}}) {
    std::vector<std::vector<int32_t>> prompts(5, some_ids(length, 3));
    prompts[2][0] ^= 4;
    prompts[3][length / 2] ^= 4;
    prompts[4][length - 1] ^= 4;
    for (const auto& ids : prompts) {
      const Answer a = runtime.ask(plain, Ask::prompt(ids, 2)), b = runtime.ask(cached, Ask::prompt(ids, 2));
      ASSERT_EQ(b.code, GAINZ_OK) << b.error;
      EXPECT_FALSE(b.ids.empty());
      EXPECT_EQ(a.ids, b.ids) << length;
      EXPECT_EQ(a.num_cached, 0u);
    }
  }
}

TEST(prefix_cache, pb19_salts_and_models_keep_apart) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load(), other = runtime.load(TinyFile({.seed = 2}).path);
  const auto ask = [&](gainz_model_id m, const char* salt) {
    Ask a = Ask::prompt(some_ids(100, 9), 2);
    a.config.cache_salt = salt;
    return runtime.ask(m, a).num_cached;
  };
  EXPECT_EQ(ask(model, nullptr), 0u);
  EXPECT_EQ(ask(model, ""), 96u) << "no salt is the empty salt";
  EXPECT_EQ(ask(model, "a"), 0u);
  EXPECT_EQ(ask(model, "a"), 96u);
  EXPECT_EQ(ask(model, "b"), 0u);
  EXPECT_EQ(ask(other, "a"), 0u);
  EXPECT_EQ(ask(other, "a"), 96u);
  Ask none = Ask::prompt(some_ids(100, 9), 2);
  none.config.flags = GAINZ_REQUEST_NO_CACHE;
  EXPECT_EQ(runtime.ask(model, none).num_cached, 0u);
}

}  // namespace
}  // namespace gainz::test
