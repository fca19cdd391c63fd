// Law 1 with speculation: the tokens of an answer, their text and log-probabilities are those of plain decoding, whatever the
// draft, its depth, the sampling and the company. What is checked is every draft that can be wrong in its own way.
#include <numeric>

#include "runtime/api/api_fixture.h"
#include "support/sanitized.h"

namespace gainz::test {
namespace {

struct Backend {
  const char* name;
  const char* kv_type;
};

constexpr uint32_t bit(uint32_t kind) { return 1u << kind; }

// Requests that differ in everything that the sampler looks at.
std::vector<Ask> different_asks(size_t count, int32_t num_tokens) {
  std::vector<Ask> asks;
  static const gainz_logit_bias kBias[] = {{170, -3}, {40, 2}};
  static const int32_t kStopIds[] = {17};
  for (size_t i = 0; i < count; ++i) {
    // Prompts that repeat themselves, so that there is something to copy.
    std::vector<int32_t> ids = some_ids(5 + 3 * i, i);
    ids.insert(ids.end(), ids.begin(), ids.end());
    Ask ask = Ask::prompt(std::move(ids), num_tokens);
    gainz_sampling& s = ask.config.sampling;
    s.temperature = std::array{0.0f, 0.3f, 0.7f, 1.0f, 1.5f}[i % 5];
    s.seed = 1000 + i;
    s.ignore_eos = i % 3 != 0;
    if (i % 4 == 1) s.repetition_penalty = 1.2f, s.frequency_penalty = 0.3f;
    if (i % 4 == 2) s.top_k = 20, s.top_p = 0.9f;
    if (i % 4 == 3) s.logit_bias = kBias, s.num_logit_bias = 2, s.min_p = 0.02f, s.presence_penalty = 0.5f;
    if (i % 5 == 2) s.stop_token_ids = kStopIds, s.num_stop_token_ids = 1, s.min_tokens = 7;
    if (i % 3 == 1) s.logprobs = 3;
    asks.push_back(std::move(ask));
  }
  return asks;
}

void expect_same(const std::vector<Answer>& expected, const std::vector<Answer>& answers, const std::string& how) {
  ASSERT_EQ(expected.size(), answers.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(answers[i].code, GAINZ_OK) << how << ": " << answers[i].error;
    ASSERT_EQ(expected[i].ids, answers[i].ids) << how << ", request " << i;
    ASSERT_EQ(expected[i].text, answers[i].text) << how << ", request " << i;
    ASSERT_EQ(expected[i].reason, answers[i].reason) << how << ", request " << i;
    ASSERT_EQ(expected[i].logprobs, answers[i].logprobs) << how << ", request " << i;
  }
}

void speculate(Ask& ask, uint32_t mode, uint32_t kinds, uint32_t depth) {
  ask.config.speculation.mode = mode;
  ask.config.speculation.kinds = kinds;
  ask.config.speculation.depth = depth;
}

class Speculation : public testing::TestWithParam<Backend> {
 protected:
  static constexpr size_t kNumAsks = 16;
  static constexpr int32_t kNumTokens = 24;

  // 8-bit pages need heads of 32 or more.
  static const TinyFile& file() {
    static const TinyFile wide({.type = "Q6_K"});
    return std::string_view(GetParam().kv_type) == "q8_0" ? wide : tiny_file();
  }
  // change(gainz_model_config&)
  template <class Change>
  static gainz_model_id load(TestRuntime& runtime, Change change) {
    return runtime.load(file().path, [&](gainz_model_config& c) {
      c.backend = GetParam().name;
      c.kv_type = GetParam().kv_type;
      change(c);
    });
  }
  // Plain, one after the other.
  static std::vector<Answer> plain(const std::vector<Ask>& asks) {
    TestRuntime runtime;
    const gainz_model_id model = load(runtime, [](gainz_model_config& c) { c.no_prefix_cache = 1; });
    std::vector<Answer> answers;
    for (Ask ask : asks) {
      speculate(ask, GAINZ_SPECULATION_OFF, 0, 0);
      answers.push_back(runtime.ask(model, ask));
      EXPECT_EQ(std::accumulate(answers.back().num_drafted, std::end(answers.back().num_drafted), 0u), 0u);
    }
    return answers;
  }
};

TEST_P(Speculation, changes_no_token_of_any_request_at_any_depth_in_any_company) {
  const std::vector<Ask> asks = different_asks(kNumAsks, kNumTokens);
  const std::vector<Answer> expected = plain(asks);
  TestRuntime runtime;
  const gainz_model_id model = load(runtime, [](gainz_model_config&) {});
  const std::vector<uint32_t> depths =
      kSanitized ? std::vector<uint32_t>{0, 3, 16} : std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 7, 8, 11, 15, 16};
  uint64_t accepted = 0;
  for (const uint32_t depth : depths) {
    for (const size_t batch : kSanitized ? std::vector<size_t>{5, 16} : std::vector<size_t>{1, 3, 16}) {
      for (size_t begin = 0; begin + batch <= kNumAsks; begin += batch) {
        std::vector<Ask> some(asks.begin() + ptrdiff_t(begin), asks.begin() + ptrdiff_t(begin + batch));
        for (size_t i = 0; i < some.size(); ++i) {
          speculate(some[i], GAINZ_SPECULATION_FIXED,
                    std::array{bit(GAINZ_DRAFT_NGRAM), bit(GAINZ_DRAFT_CACHE), bit(GAINZ_DRAFT_NOISE),
                               bit(GAINZ_DRAFT_PREDICTION), 0u}[(i + depth) % 5],
                    depth);
          some[i].prediction = expected[begin + i].ids;
          for (size_t k = 5; k < some[i].prediction.size(); k += 6) some[i].prediction[k] ^= 1;  // wrong here and there
        }
        const auto answers = runtime.ask_all(model, some);
        expect_same({expected.begin() + ptrdiff_t(begin), expected.begin() + ptrdiff_t(begin + batch)}, answers,
                    "depth " + std::to_string(depth) + ", batch " + std::to_string(batch) + ", from " + std::to_string(begin));
        for (const Answer& answer : answers) {
          for (uint32_t k = 0; k < GAINZ_NUM_DRAFT_KINDS; ++k) {
            accepted += answer.num_accepted[k];
            EXPECT_LE(answer.num_accepted[k], answer.num_drafted[k]);
          }
          EXPECT_TRUE(depth > 0 || std::accumulate(answer.num_drafted, std::end(answer.num_drafted), 0u) == 0u);
        }
      }
    }
  }
  EXPECT_GT(accepted, kSanitized ? 100u : 500u);
  const gainz_model_stats stats = runtime.stats(model);
  EXPECT_EQ(stats.pages_used, 0u);
  EXPECT_EQ(std::accumulate(stats.num_accepted, std::end(stats.num_accepted), uint64_t{0}), accepted);
}

TEST_P(Speculation, chooses_for_itself_and_changes_no_token) {
  const std::vector<Ask> asks = different_asks(kNumAsks, 60);
  const std::vector<Answer> expected = plain(asks);
  TestRuntime runtime;
  for (const uint32_t batch_tokens : {16u, 64u}) {
    const gainz_model_id model = load(runtime, [&](gainz_model_config& c) { c.batch_tokens = batch_tokens; });
    for (int round = 0; round < 3; ++round) expect_same(expected, runtime.ask_all(model, asks), "auto");
    const gainz_model_stats stats = runtime.stats(model);
    EXPECT_GT(stats.num_accepted[GAINZ_DRAFT_NGRAM] + stats.num_accepted[GAINZ_DRAFT_CACHE], 0u);
    EXPECT_LT(stats.num_steps, stats.num_generated_tokens);
  }
}

// A draft model that is the target, and one of other weights.
TEST_P(Speculation, a_draft_model_good_or_bad_changes_no_token) {
  const std::vector<Ask> asks = different_asks(kNumAsks, kNumTokens);
  const std::vector<Answer> expected = plain(asks);
  const TinyFile other({.type = "Q6_K", .seed = 2, .num_layers = 1});
  TestRuntime runtime;
  for (const std::string& path : {file().path, other.path}) {
    const bool is_same = path == file().path;
    const gainz_model_id model = load(runtime, [&](gainz_model_config& c) { c.draft_path = path.c_str(); });
    gainz_model_info info{sizeof(gainz_model_info)};
    ASSERT_EQ(gainz_model_get(runtime, model, &info), GAINZ_OK);
    EXPECT_EQ(info.draft_path, path);
    for (const uint32_t depth : kSanitized ? std::vector<uint32_t>{4} : std::vector<uint32_t>{1, 4, 16}) {
      for (const size_t batch : {1, 5, 16}) {
        std::vector<Answer> answers;
        for (size_t begin = 0; begin < kNumAsks; begin += batch) {
          std::vector<Ask> some(asks.begin() + ptrdiff_t(begin), asks.begin() + ptrdiff_t(std::min(begin + batch, kNumAsks)));
          for (Ask& ask : some) speculate(ask, GAINZ_SPECULATION_FIXED, bit(GAINZ_DRAFT_MODEL), depth);
          for (Answer& answer : runtime.ask_all(model, some)) answers.push_back(std::move(answer));
        }
        expect_same(expected, answers, (is_same ? "equal, depth " : "other, depth ") + std::to_string(depth));
        for (const Answer& answer : answers) {
          EXPECT_GT(answer.num_drafted[GAINZ_DRAFT_MODEL], 0u);
          // The same noise and the same weights: the draft is right, also at high temperature, but for what lies beyond the
          // end.
          if (!is_same || batch != 1 || answer.reason != GAINZ_FINISH_LENGTH) continue;
          EXPECT_EQ(answer.num_accepted[GAINZ_DRAFT_MODEL], answer.num_drafted[GAINZ_DRAFT_MODEL]);
        }
      }
    }
    for (int round = 0; round < 2; ++round) expect_same(expected, runtime.ask_all(model, asks), "auto");
    EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
  }
}

// Neighbours that are cancelled in mid-draft and own pages that are lost in mid-draft.
TEST_P(Speculation, cancelled_neighbours_and_lost_pages_change_no_token) {
  std::vector<Ask> asks = different_asks(10, 60);
  const std::vector<Answer> expected = plain(asks);
  TestRuntime roomy;
  gainz_model_info info{sizeof(gainz_model_info)};
  ASSERT_EQ(gainz_model_get(roomy, load(roomy, [](gainz_model_config&) {}), &info), GAINZ_OK);
  TestRuntime runtime;
  const gainz_model_id model = load(runtime, [&](gainz_model_config& c) {
    c.kv_memory_bytes = info.kv_bytes_per_token * (512 + 32);
    c.draft_path = file().path.c_str();
  });
  for (const uint32_t kinds : {bit(GAINZ_DRAFT_NGRAM), bit(GAINZ_DRAFT_MODEL), 0u}) {
    std::vector<gainz_request_id> requests, neighbours;
    for (size_t i = 0; i < asks.size(); ++i) {
      Ask ask = asks[i];
      speculate(ask, GAINZ_SPECULATION_FIXED, kinds, 6);
      ask.config.preempt_after = i % 3 == 0 ? 11 : 0;
      requests.push_back(runtime.submit(model, ask));
      Ask neighbour = Ask::prompt(some_ids(20 + i, 500 + i), 60);
      speculate(neighbour, GAINZ_SPECULATION_FIXED, kinds, 6);
      neighbours.push_back(runtime.submit(model, neighbour));
    }
    uint32_t pending = 1;
    for (size_t i = 0; i < neighbours.size(); ++i) {
      for (int slice = 0; slice < 7; ++slice) gainz_tick(runtime, 0, &pending, nullptr, 0);
      EXPECT_EQ(gainz_cancel(runtime, neighbours[i]), GAINZ_OK);
    }
    std::vector<Answer> answers;
    for (const gainz_request_id request : requests) answers.push_back(runtime.finish(request));
    expect_same(expected, answers, "kinds " + std::to_string(kinds));
    for (const gainz_request_id neighbour : neighbours) EXPECT_EQ(runtime.finish(neighbour).code, GAINZ_CANCELLED);
    EXPECT_EQ(runtime.stats(model).pages_used, 0u);
  }
  EXPECT_GT(runtime.stats(model).num_preemptions, 0u);
}

INSTANTIATE_TEST_SUITE_P(backends, Speculation,
                         testing::Values(Backend{"reference", "f32"}, Backend{"onednn", "f16"}, Backend{"onednn", "q8_0"}),
                         [](const auto& test) { return std::string(test.param.name) + "_" + test.param.kv_type; });

// An answer given before comes back from the cache, several tokens a step.
TEST(speculation, an_answer_given_before_is_drafted_by_the_cache) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  Ask ask = Ask::prompt(some_ids(40, 8), 100);
  ask.config.sampling.temperature = 1.3f;
  ask.config.sampling.ignore_eos = 1;
  speculate(ask, GAINZ_SPECULATION_FIXED, bit(GAINZ_DRAFT_CACHE), 8);
  const Answer first = runtime.ask(model, ask), second = runtime.ask(model, ask);
  EXPECT_EQ(first.ids, second.ids);
  EXPECT_EQ(first.num_drafted[GAINZ_DRAFT_CACHE], 0u);
  EXPECT_GT(second.num_accepted[GAINZ_DRAFT_CACHE], 60u);
  Ask salted = ask;
  salted.config.cache_salt = "other";
  EXPECT_EQ(runtime.ask(model, salted).num_drafted[GAINZ_DRAFT_CACHE], 0u) << "nothing crosses a salt";
}

TEST(speculation, a_right_prediction_is_accepted_and_a_wrong_one_does_no_harm) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  Ask ask = Ask::prompt(some_ids(40, 8), 100);
  ask.config.sampling.temperature = 1.3f;
  ask.config.sampling.ignore_eos = 1;
  speculate(ask, GAINZ_SPECULATION_OFF, 0, 0);
  const Answer plain = runtime.ask(model, ask);
  const uint64_t plain_steps = runtime.stats(model).num_steps;
  speculate(ask, GAINZ_SPECULATION_FIXED, bit(GAINZ_DRAFT_PREDICTION), 9);
  ask.prediction = plain.ids;
  const Answer right = runtime.ask(model, ask);
  EXPECT_EQ(right.ids, plain.ids);
  EXPECT_EQ(right.num_accepted[GAINZ_DRAFT_PREDICTION], right.num_drafted[GAINZ_DRAFT_PREDICTION]);
  EXPECT_LT(runtime.stats(model).num_steps - plain_steps, 15u) << "100 tokens, ten in a step";
  ask.prediction = some_ids(300, 77);
  EXPECT_EQ(runtime.ask(model, ask).ids, plain.ids);
}

TEST(speculation, a_draft_model_of_another_vocabulary_is_refused_with_the_first_difference) {
  GgufWriter writer = tiny_model({});
  std::vector<int32_t> types(kTinyVocab, 1);
  for (const size_t special : {0, 1, 2, 7}) types[special] = 3;  // one more than in the model
  writer.remove("tokenizer.ggml.token_type").array("tokenizer.ggml.token_type", types);
  const TinyFile other(writer);
  TestRuntime runtime;
  gainz_model_id model = 0;
  EXPECT_EQ(runtime.try_load(tiny_file().path, &model, [&](gainz_model_config& c) { c.draft_path = other.path.c_str(); }),
            GAINZ_INVALID);
  const std::string error = runtime.error;
  EXPECT_NE(error.find("token 7 is \""), std::string::npos) << error;
  EXPECT_NE(error.find("(special) in the draft model"), std::string::npos) << error;
  EXPECT_NE(error.find(other.path), std::string::npos) << error;
  EXPECT_EQ(runtime.try_load(tiny_file().path, &model, [&](gainz_model_config& c) { c.draft_path = "/nowhere.gguf"; }),
            GAINZ_NOT_FOUND);
  EXPECT_NE(std::string(runtime.error).find("draft model /nowhere.gguf"), std::string::npos) << runtime.error;
  EXPECT_EQ(runtime.ask(runtime.load(), Ask::prompt(some_ids(9, 1), 3)).ids.size(), 3u) << "the next load works";
}

TEST(speculation, settings_are_checked) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  const auto refused = [&](auto change) {
    Ask ask = Ask::prompt(some_ids(9, 1), 3);
    change(ask);
    runtime.submit(model, ask);
    return std::string(runtime.code == GAINZ_OK ? "" : runtime.error);
  };
  EXPECT_NE(refused([](Ask& a) { a.config.speculation.mode = 4; }).find("mode 4"), std::string::npos);
  EXPECT_NE(refused([](Ask& a) { speculate(a, GAINZ_SPECULATION_AUTO, 32, 0); }).find("kinds"), std::string::npos);
  EXPECT_NE(refused([](Ask& a) { speculate(a, GAINZ_SPECULATION_FIXED, 0, 17); }).find("17, at most 16"), std::string::npos);
  EXPECT_NE(refused([](Ask& a) { a.config.speculation.depth = 3; }).find("DEFAULT"), std::string::npos);
  EXPECT_NE(refused([](Ask& a) { a.config.speculation.struct_size = 5; }).find("struct_size is 5"), std::string::npos);
  EXPECT_NE(refused([](Ask& a) { a.prediction = {1, int32_t(kTinyVocab)}; }).find("prediction id 320 at 1"), std::string::npos);
  EXPECT_NE(
      refused([](Ask& a) { a.prediction = {1}, a.config.prediction = "x", a.config.prediction_bytes = 1; }).find("only one of"),
      std::string::npos);
  EXPECT_EQ(refused([](Ask& a) { a.config.speculation.struct_size = 0; }), "") << "an older program";
  gainz_model_id other = 0;
  EXPECT_EQ(runtime.try_load(tiny_file().path, &other, [](gainz_model_config& c) { c.speculation.mode = 9; }), GAINZ_INVALID);
}

// The model's settings are those of a request that names none.
TEST(speculation, of_a_model_is_what_its_requests_get) {
  TestRuntime runtime;
  const gainz_model_id model =
      runtime.load(tiny_file().path, [](gainz_model_config& c) { c.speculation.mode = GAINZ_SPECULATION_OFF; });
  Ask ask = Ask::prompt(std::vector<int32_t>(40, 9), 40);
  EXPECT_EQ(runtime.ask(model, ask).num_drafted[GAINZ_DRAFT_NGRAM], 0u);
  speculate(ask, GAINZ_SPECULATION_FIXED, 0, 4);
  EXPECT_GT(runtime.ask(model, ask).num_drafted[GAINZ_DRAFT_NGRAM], 0u);
}

}  // namespace
}  // namespace gainz::test
