// gainz_submit: every field's bad values, limits, cancelling, time limits, kinds of requests.
#include <cmath>
#include <limits>

#include "runtime/api/api_fixture.h"

namespace gainz::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

struct BadValue {
  const char* names;  // what the sentence must hold
  void (*change)(Ask&);
};
const gainz_logit_bias kBiasBelow{-1, 1}, kBiasBeyond{int32_t(kTinyVocab), 1}, kBiasMax{INT32_MAX, 1}, kBiasNan{3, kNan},
    kBiasTwice[2] = {{3, 1}, {3, 2}};
const int32_t kIdBelow = -1, kIdBeyond = int32_t(kTinyVocab), kIdMax = INT32_MAX;
const char* const kEmptyStop = "";
const char* const kNullStop = nullptr;
const char* const kSomeStop = "x";
const uint32_t kFalling[2] = {2, 1}, kBeyond[1] = {3};
const std::string kLongSalt(257, 's');

const BadValue kBadValues[] = {
    {"temperature", [](Ask& a) { a.config.sampling.temperature = -1; }},
    {"temperature", [](Ask& a) { a.config.sampling.temperature = kNan; }},
    {"temperature", [](Ask& a) { a.config.sampling.temperature = kInf; }},
    {"top_k", [](Ask& a) { a.config.sampling.top_k = -1; }},
    {"top_k", [](Ask& a) { a.config.sampling.top_k = INT32_MIN; }},
    {"top_p", [](Ask& a) { a.config.sampling.top_p = -0.1f; }},
    {"top_p", [](Ask& a) { a.config.sampling.top_p = 1.1f; }},
    {"top_p", [](Ask& a) { a.config.sampling.top_p = kNan; }},
    {"min_p", [](Ask& a) { a.config.sampling.min_p = 2; }},
    {"min_p", [](Ask& a) { a.config.sampling.min_p = kNan; }},
    {"typical_p", [](Ask& a) { a.config.sampling.typical_p = -1; }},
    {"typical_p", [](Ask& a) { a.config.sampling.typical_p = kInf; }},
    {"repetition_penalty", [](Ask& a) { a.config.sampling.repetition_penalty = 0; }},
    {"repetition_penalty", [](Ask& a) { a.config.sampling.repetition_penalty = -1; }},
    {"repetition_penalty", [](Ask& a) { a.config.sampling.repetition_penalty = 1e6f; }},
    {"repetition_penalty", [](Ask& a) { a.config.sampling.repetition_penalty = kNan; }},
    {"presence_penalty", [](Ask& a) { a.config.sampling.presence_penalty = 1e38f; }},
    {"frequency_penalty", [](Ask& a) { a.config.sampling.frequency_penalty = -kInf; }},
    {"min_tokens", [](Ask& a) { a.config.sampling.min_tokens = -1; }},
    {"min_tokens", [](Ask& a) { a.config.sampling.min_tokens = 9; }},  // max_tokens is 8
    {"max_tokens", [](Ask& a) { a.config.sampling.max_tokens = -2; }},
    {"max_tokens", [](Ask& a) { a.config.sampling.max_tokens = INT32_MIN; }},
    {"logprobs", [](Ask& a) { a.config.sampling.logprobs = -2; }},
    {"logprobs", [](Ask& a) { a.config.sampling.logprobs = 1025; }},
    {"prompt_logprobs", [](Ask& a) { a.config.prompt_logprobs = -2; }},
    {"prompt_logprobs", [](Ask& a) { a.config.prompt_logprobs = INT32_MAX; }},
    {"logit_bias", [](Ask& a) { a.config.sampling.logit_bias = &kBiasBelow, a.config.sampling.num_logit_bias = 1; }},
    {"logit_bias", [](Ask& a) { a.config.sampling.logit_bias = &kBiasBeyond, a.config.sampling.num_logit_bias = 1; }},
    {"logit_bias", [](Ask& a) { a.config.sampling.logit_bias = &kBiasMax, a.config.sampling.num_logit_bias = 1; }},
    {"logit_bias", [](Ask& a) { a.config.sampling.logit_bias = &kBiasNan, a.config.sampling.num_logit_bias = 1; }},
    {"logit_bias", [](Ask& a) { a.config.sampling.logit_bias = kBiasTwice, a.config.sampling.num_logit_bias = 2; }},
    {"logit_bias", [](Ask& a) { a.config.sampling.num_logit_bias = 1; }},
    {"logit_bias", [](Ask& a) { a.config.sampling.logit_bias = &kBiasBelow, a.config.sampling.num_logit_bias = SIZE_MAX; }},
    {"stop_token_ids", [](Ask& a) { a.config.sampling.stop_token_ids = &kIdBelow, a.config.sampling.num_stop_token_ids = 1; }},
    {"stop_token_ids", [](Ask& a) { a.config.sampling.stop_token_ids = &kIdBeyond, a.config.sampling.num_stop_token_ids = 1; }},
    {"stop_token_ids", [](Ask& a) { a.config.sampling.stop_token_ids = &kIdMax, a.config.sampling.num_stop_token_ids = 1; }},
    {"stop_token_ids",
     [](Ask& a) { a.config.sampling.stop_token_ids = &kIdBelow, a.config.sampling.num_stop_token_ids = SIZE_MAX; }},
    {"stop_token_ids", [](Ask& a) { a.config.sampling.num_stop_token_ids = 1; }},
    {"stop", [](Ask& a) { a.config.sampling.stop = &kEmptyStop, a.config.sampling.num_stop = 1; }},
    {"stop", [](Ask& a) { a.config.sampling.stop = &kNullStop, a.config.sampling.num_stop = 1; }},
    {"stop", [](Ask& a) { a.config.sampling.stop = &kSomeStop, a.config.sampling.num_stop = SIZE_MAX; }},
    {"stop", [](Ask& a) { a.config.sampling.num_stop = 1; }},
    {"prompt id", [](Ask& a) { a.ids[1] = -1; }},
    {"prompt id", [](Ask& a) { a.ids[1] = int32_t(kTinyVocab); }},
    {"prompt id", [](Ask& a) { a.ids[1] = INT32_MAX; }},
    {"empty", [](Ask& a) { a.config.prompt_ids = a.ids.data(), a.config.num_prompt_ids = 0, a.ids.clear(); }},
    {"exactly one", [](Ask& a) { a.ids.clear(); }},
    {"exactly one", [](Ask& a) { a.config.prompt = "x", a.config.prompt_bytes = 1; }},
    {"exactly one", [](Ask& a) { a.text = "[]"; }},
    {"kind", [](Ask& a) { a.config.kind = 3; }},
    {"pooling", [](Ask& a) { a.config.kind = GAINZ_REQUEST_EMBED, a.config.pooling = 2; }},
    {"flags", [](Ask& a) { a.config.flags = 8; }},
    {"positions", [](Ask& a) { a.config.kind = GAINZ_REQUEST_LOGITS; }},
    {"positions",
     [](Ask& a) { a.config.kind = GAINZ_REQUEST_LOGITS, a.config.positions = kFalling, a.config.num_positions = 2; }},
    {"positions",
     [](Ask& a) { a.config.kind = GAINZ_REQUEST_LOGITS, a.config.positions = kBeyond, a.config.num_positions = 1; }},
    {"positions",
     [](Ask& a) { a.config.kind = GAINZ_REQUEST_LOGITS, a.config.positions = kBeyond, a.config.num_positions = SIZE_MAX; }},
    {"positions", [](Ask& a) { a.config.positions = kBeyond, a.config.num_positions = 1; }},
    {"num_generated_ids",
     [](Ask& a) { a.positions = {0}, a.config.kind = GAINZ_REQUEST_LOGITS, a.config.num_generated_ids = 3; }},
    {"num_generated_ids", [](Ask& a) { a.config.num_generated_ids = 1; }},
    {"prompt_logprobs", [](Ask& a) { a.config.kind = GAINZ_REQUEST_EMBED, a.config.prompt_logprobs = 1; }},
    {"tools_json", [](Ask& a) { a.config.tools_json = "[]"; }},
    {"vars_json", [](Ask& a) { a.config.vars_json = "{}"; }},
    {"cache_salt", [](Ask& a) { a.config.cache_salt = kLongSalt.c_str(); }},
};

TEST(request, pb22_a_bad_value_is_named_and_harms_nobody) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  Ask healthy = Ask::prompt(some_ids(30, 4), 100);
  healthy.config.sampling.ignore_eos = 1;
  const Answer expected = runtime.ask(model, healthy);
  const gainz_request_id stream = runtime.submit(model, healthy);
  size_t index = 0;
  for (const BadValue& bad : kBadValues) {
    SCOPED_TRACE(testing::Message() << "value " << index++ << ", " << bad.names);
    gainz_tick(runtime, 0, nullptr, nullptr, 0);
    Ask ask = Ask::prompt({5, 6, 7});
    bad.change(ask);
    EXPECT_EQ(runtime.submit(model, ask), 0u);
    EXPECT_TRUE(runtime.code == GAINZ_INVALID || runtime.code == GAINZ_LIMIT_EXCEEDED) << runtime.code;
    EXPECT_NE(std::string(runtime.error).find(bad.names), std::string::npos) << runtime.error;
  }
  const Answer answer = runtime.finish(stream);
  EXPECT_EQ(answer.ids, expected.ids);
  EXPECT_EQ(answer.text, expected.text);
  EXPECT_EQ(runtime.stats(model).num_failed, 0u);
}

TEST(request, pb22_extreme_values_that_are_allowed) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  const Answer greedy = runtime.ask(model, Ask::prompt({5, 6, 7}));
  const auto same_as_greedy = [&](auto change) {
    Ask ask = Ask::prompt({5, 6, 7});
    ask.config.sampling.temperature = 1;
    change(ask.config.sampling);
    EXPECT_EQ(runtime.ask(model, ask).ids, greedy.ids);
  };
  same_as_greedy([](gainz_sampling& s) { s.temperature = -0.0f; });
  same_as_greedy([](gainz_sampling& s) { s.top_k = 1; });
  same_as_greedy([](gainz_sampling& s) { s.top_p = 0; });
  same_as_greedy([](gainz_sampling& s) { s.min_p = 1; });
  Ask hot = Ask::prompt({5, 6, 7});
  hot.config.sampling.temperature = 1e6f;
  hot.config.sampling.top_k = INT32_MAX;
  hot.config.sampling.ignore_eos = 1;
  EXPECT_EQ(runtime.ask(model, hot).ids.size(), 8u);
}

TEST(request, pb12_a_prompt_beyond_the_context_names_both_numbers) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  for (const size_t length : {512u, 513u, 768u, 100000u}) {
    Ask ask = Ask::prompt(some_ids(length, 1));
    EXPECT_EQ(runtime.submit(model, ask), 0u);
    EXPECT_EQ(runtime.code, GAINZ_LIMIT_EXCEEDED);
    EXPECT_NE(std::string(runtime.error).find(std::to_string(length)), std::string::npos) << runtime.error;
    EXPECT_NE(std::string(runtime.error).find("512"), std::string::npos) << runtime.error;
  }
  const std::string filler(4000, 'q');
  Ask chat = Ask::chat(R"([{"role":"user","content":")" + filler + R"("}])");
  EXPECT_EQ(runtime.submit(model, chat), 0u);
  EXPECT_EQ(runtime.code, GAINZ_LIMIT_EXCEEDED) << runtime.error;
  EXPECT_NE(std::string(runtime.error).find("512"), std::string::npos) << runtime.error;

  Ask fits = Ask::prompt(some_ids(511, 1), -1);
  fits.config.sampling.ignore_eos = 1;
  const Answer last = runtime.ask(model, fits);
  EXPECT_EQ(last.ids.size(), 1u);
  EXPECT_EQ(last.reason, GAINZ_FINISH_LENGTH);
  EXPECT_EQ(runtime.ask(model, Ask::logits(some_ids(512, 1), {511})).logits.size(), kTinyVocab)
      << "a prompt alone may fill the context";
}

TEST(request, no_tokens_asked_for) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  const Answer none = runtime.ask(model, Ask::prompt({5, 6, 7}, 0));
  EXPECT_EQ(none.code, GAINZ_OK);
  EXPECT_EQ(none.reason, GAINZ_FINISH_LENGTH);
  EXPECT_TRUE(none.ids.empty());
  EXPECT_EQ(none.num_prompt, 3u);
  Ask scored = Ask::prompt({5, 6, 7, 8}, 0);
  scored.config.prompt_logprobs = 2;
  EXPECT_EQ(runtime.ask(model, scored).num_prompt_logprobs, 3u);
}

TEST(request, one_seed_one_answer_and_a_drawn_one_is_told) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  Ask ask = Ask::prompt({5, 6, 7}, 20);
  ask.config.sampling.temperature = 20;  // flat: two seeds agree on 20 tokens by a chance of nothing
  ask.config.sampling.has_seed = 0;
  ask.config.sampling.ignore_eos = 1;
  const Answer drawn = runtime.ask(model, ask);
  ask.config.sampling.has_seed = 1;
  ask.config.sampling.seed = drawn.seed;
  EXPECT_EQ(runtime.ask(model, ask).ids, drawn.ids);
  ask.config.sampling.seed = drawn.seed + 1;
  EXPECT_NE(runtime.ask(model, ask).ids, drawn.ids);
}

TEST(request, cancelled_before_while_and_after_it_runs) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  Ask ask = Ask::prompt(some_ids(100, 1), -1);
  ask.config.sampling.ignore_eos = 1;
  for (int num_ticks : {0, 1, 2, 5, 9}) {
    const gainz_request_id request = runtime.submit(model, ask);
    for (int i = 0; i < num_ticks; ++i) gainz_tick(runtime, 0, nullptr, nullptr, 0);
    EXPECT_EQ(gainz_cancel(runtime, request), GAINZ_OK);
    EXPECT_EQ(gainz_cancel(runtime, request), GAINZ_OK) << "twice is fine";
    gainz_tick(runtime, 0, nullptr, nullptr, 0);  // within one slice
    const Answer answer = runtime.finish(request);
    EXPECT_EQ(answer.code, GAINZ_CANCELLED);
    EXPECT_EQ(answer.reason, GAINZ_FINISH_CANCELLED);
    EXPECT_LT(answer.ids.size(), 10u);
  }
  Ask brief = Ask::prompt({5}, 1);
  const gainz_request_id over = runtime.submit(model, brief);
  gainz_tick(runtime, 1000000, nullptr, nullptr, 0);
  EXPECT_EQ(gainz_cancel(runtime, over), GAINZ_OK) << "what has ended but was not read to its end";
  EXPECT_EQ(runtime.finish(over).code, GAINZ_OK);
  EXPECT_EQ(runtime.stats(model).pages_used, 0u);
}

TEST(request, its_time_is_over) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  Ask ask = Ask::prompt(some_ids(30, 1), -1);
  ask.config.sampling.ignore_eos = 1;
  ask.config.timeout_ms = 1;
  const gainz_request_id request = runtime.submit(model, ask);
  usleep(3000);
  const Answer answer = runtime.finish(request);
  EXPECT_EQ(answer.reason, GAINZ_FINISH_TIMEOUT);
  EXPECT_EQ(answer.code, GAINZ_CANCELLED);
}

TEST(request, unloading_ends_what_runs_and_waits) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  std::vector<gainz_request_id> requests;
  Ask ask = Ask::prompt(some_ids(100, 1), -1);
  ask.config.sampling.ignore_eos = 1;
  for (int i = 0; i < 20; ++i) requests.push_back(runtime.submit(model, ask));
  for (int i = 0; i < 7; ++i) gainz_tick(runtime, 0, nullptr, nullptr, 0);
  requests.push_back(runtime.submit(model, ask));  // not even taken by the engine
  EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
  for (const gainz_request_id request : requests) {
    const Answer answer = runtime.finish(request);
    EXPECT_EQ(answer.code, GAINZ_CANCELLED);
    EXPECT_EQ(answer.num_done, 1u);
  }
}

TEST(request, embeddings_do_not_depend_on_chunks_or_company) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load(),
                       small = runtime.load(tiny_file().path, [](gainz_model_config&c) { c.batch_tokens = 16; });
  for (const uint32_t pooling : {GAINZ_POOLING_MEAN, GAINZ_POOLING_LAST}) {
    Ask ask = Ask::prompt(some_ids(90, 1));
    ask.config.kind = GAINZ_REQUEST_EMBED;
    ask.config.pooling = pooling;
    const Answer a = runtime.ask(model, ask), b = runtime.ask_all(small, {Ask::prompt(some_ids(40, 2)), ask, ask})[1];
    ASSERT_EQ(a.embedding.size(), 64u) << a.error;
    ASSERT_EQ(b.embedding.size(), 64u) << b.error;
    EXPECT_EQ(std::memcmp(a.embedding.data(), b.embedding.data(), 64 * sizeof(float)), 0);
  }
}

TEST(request, text_calls) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  int32_t* ids = nullptr;
  size_t count = 0;
  const std::string text = "the cat <|im_end|> \xF0\x9F\x98\x80";
  ASSERT_EQ(gainz_tokenize(runtime, model, text.data(), text.size(), 0, &ids, &count, nullptr, 0), GAINZ_OK);
  const std::vector<int32_t> plain(ids, ids + count);
  gainz_free(runtime, ids);
  char* back = nullptr;
  size_t num_bytes = 0;
  ASSERT_EQ(gainz_detokenize(runtime, model, plain.data(), plain.size(), 0, &back, &num_bytes, nullptr, 0), GAINZ_OK);
  EXPECT_EQ(std::string(back, num_bytes), text);
  gainz_free(runtime, back);
  ASSERT_EQ(gainz_tokenize(runtime, model, text.data(), text.size(), GAINZ_TEXT_PARSE_SPECIAL, &ids, &count, nullptr, 0),
            GAINZ_OK);
  EXPECT_LT(count, plain.size());
  gainz_free(runtime, ids);
  for (const int32_t bad : {-1, int32_t(kTinyVocab), INT32_MAX}) {
    EXPECT_EQ(gainz_detokenize(runtime, model, &bad, 1, 0, &back, &num_bytes, runtime.error, sizeof runtime.error),
              GAINZ_INVALID)
        << bad;
  }
  std::string raw;  // id by id, where the emoji's bytes are tokens of their own
  for (const int32_t id : plain) {
    ASSERT_EQ(gainz_detokenize(runtime, model, &id, 1, GAINZ_TEXT_RAW, &back, &num_bytes, nullptr, 0), GAINZ_OK);
    raw.append(back, num_bytes);
    gainz_free(runtime, back);
  }
  EXPECT_EQ(raw, text);
  EXPECT_EQ(gainz_tokenize(runtime, model, "x", 1, GAINZ_TEXT_RAW, &ids, &count, nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_tokenize(runtime, model, "\xFF\xFE", 2, 0, &ids, &count, nullptr, 0), GAINZ_OK)
      << "bytes that are no UTF-8 are tokens too";
  gainz_free(runtime, ids);
}

}  // namespace
}  // namespace gainz::test
