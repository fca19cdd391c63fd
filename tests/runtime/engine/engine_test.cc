// The engine over a model that keeps token ids in its pages (support/fake_model.h): whatever happens to a request, its tokens
// are those of the same request alone.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "support/fake_model.h"
#include "support/tiny_model.h"

namespace gainz {
namespace {

struct Answer {
  std::vector<int32_t> ids;
  std::string text;
  std::vector<gainz_event> prompt_logprobs;
  std::map<uint32_t, std::vector<float>> logits;
  std::vector<float> embedding;
  gainz_event done{};
  std::string error;
  int num_done = 0, num_started = 0;
};

class Collector : public EventSink {
 public:
  void reserve(size_t) override {}
  Event* make() override { return new Event; }
  void push(Event* event) override {
    std::lock_guard lock(mutex);
    Answer& a = answers[event->view.request];
    EXPECT_EQ(a.num_done, 0) << "an event after the last one";
    if (event->view.kind == GAINZ_EVENT_STARTED) ++a.num_started;
    if (event->view.kind == GAINZ_EVENT_TOKEN) a.ids.push_back(event->view.id), a.text += event->text;
    if (event->view.kind == GAINZ_EVENT_PROMPT_LOGPROB) a.prompt_logprobs.push_back(event->view);
    if (event->view.kind == GAINZ_EVENT_LOGITS) a.logits[event->view.position] = event->values;
    if (event->view.kind == GAINZ_EVENT_EMBEDDING) a.embedding = event->values;
    delete event;
  }
  void discard(Event* event) override { delete event; }
  void finish(const gainz_event& done, const std::string& text, const char* error) override {
    std::lock_guard lock(mutex);
    Answer& a = answers[done.request];
    a.done = done;
    a.text += text;
    a.error = error;
    ++a.num_done;
  }
  std::mutex mutex;
  std::map<gainz_request_id, Answer> answers;
};

class EngineTest : public testing::Test {
 protected:
  static constexpr uint32_t kVocab = test::kTinyVocab;

  static std::shared_ptr<const Tokenizer> tokenizer() {
    static const test::Bytes bytes = test::tiny_model({}).bytes();
    static const auto file = Gguf::parse(bytes, {});
    return *Tokenizer::create(*file);
  }

  void make(uint32_t num_pages, uint32_t max_sequences = 16, uint32_t batch_tokens = 64, uint32_t windowed_pages = 0) {
    engine.reset();
    auto fake = std::make_unique<FakeModel>(kVocab);
    model = fake.get();
    EngineOptions options;
    options.limits = {max_sequences, batch_tokens, std::max(32u, max_sequences), false};
    options.context = 512;
    options.page_groups = {{num_pages, 0}, {windowed_pages ? windowed_pages : num_pages, 40}};
    auto created = Engine::create(services, std::move(fake), tokenizer(), sink, options, nullptr);
    ASSERT_TRUE(created.ok()) << created.status().message();
    engine = std::move(*created);
  }

  static std::vector<int32_t> prompt(uint32_t seed, size_t length) {
    std::mt19937 random(seed);
    std::vector<int32_t> ids(length);
    for (auto& id : ids) id = int32_t(3 + random() % (kVocab - 3));
    return ids;
  }

  static std::vector<int32_t> expected(std::vector<int32_t> context, size_t count) {
    std::vector<int32_t> ids;
    while (ids.size() < count) {
      ids.push_back(FakeModel::next_token(context, kVocab));
      context.push_back(ids.back());
    }
    return ids;
  }

  Request request(std::vector<int32_t> ids, int32_t max_tokens) {
    Request r;
    r.id = ++last_id;
    r.prompt = std::move(ids);
    r.max_tokens = max_tokens;
    r.sampling.temperature = 0;
    return r;
  }

  gainz_request_id submit(Request r) {
    const auto id = r.id;
    EXPECT_TRUE(engine->submit(std::move(r)).ok());
    return id;
  }

  void run_all() {
    for (int i = 0; i < 100000 && engine->tick(0); ++i) {
    }
    EXPECT_EQ(model->num_faults, 0u);
  }

  Services services;
  Collector sink;
  std::unique_ptr<Engine> engine;
  FakeModel* model = nullptr;
  gainz_request_id last_id = 0;
};

TEST_F(EngineTest, OneRequestGetsItsTokensAndOneLastEvent) {
  make(200);
  const auto id = submit(request(prompt(1, 37), 20));
  run_all();
  const Answer& a = sink.answers[id];
  EXPECT_EQ(a.ids, expected(prompt(1, 37), 20));
  EXPECT_EQ(a.num_done, 1);
  EXPECT_EQ(a.num_started, 1);
  EXPECT_EQ(a.done.finish_reason, uint32_t(GAINZ_FINISH_LENGTH));
  EXPECT_EQ(a.done.num_prompt_tokens, 37u);
  EXPECT_EQ(a.done.num_generated_tokens, 20u);
}

TEST_F(EngineTest, ManySequencesOfManyLengthsShareBatches) {
  make(600);
  std::map<gainz_request_id, uint32_t> seeds;
  for (uint32_t i = 0; i < 40; ++i) seeds[submit(request(prompt(i, 1 + i * 7 % 150), 24))] = i;
  run_all();
  for (const auto& [id, i] : seeds)
    EXPECT_EQ(sink.answers[id].ids, expected(prompt(i, 1 + i * 7 % 150), 24)) << "request " << i;
  EXPECT_EQ(model->most_sequences, 16u);
}

TEST_F(EngineTest, ChunkSizeChangesNothing) {
  for (uint32_t batch_tokens : {16u, 17u, 50u, 512u}) {
    make(200, 16, batch_tokens);
    const auto id = submit(request(prompt(5, 333), 8));
    run_all();
    EXPECT_EQ(sink.answers[id].ids, expected(prompt(5, 333), 8)) << batch_tokens;
  }
}

TEST_F(EngineTest, DecodeRunsInEveryStepWhileAPromptIsRead) {
  make(200, 4, 32);
  const auto decoding = submit(request(prompt(1, 8), 40));
  for (int i = 0; i < 3; ++i) engine->tick(0);
  submit(request(prompt(2, 400), 1));
  const size_t before = sink.answers[decoding].ids.size();
  for (int i = 0; i < 8; ++i) engine->tick(0);
  EXPECT_EQ(sink.answers[decoding].ids.size(), before + 8);
  run_all();
}

TEST_F(EngineTest, PrefixHitSkipsWorkAndChangesNothing) {
  make(200);
  const auto first = submit(request(prompt(1, 100), 30));
  run_all();
  const uint64_t tokens_before = model->num_tokens;
  auto longer = prompt(1, 100);
  for (int32_t id : expected(prompt(1, 100), 30)) longer.push_back(id);
  longer.push_back(9);
  const auto second = submit(request(longer, 10));
  run_all();
  EXPECT_EQ(sink.answers[first].done.num_cached_tokens, 0u);
  EXPECT_EQ(sink.answers[second].done.num_cached_tokens, 128u);
  EXPECT_EQ(sink.answers[second].ids, expected(longer, 10));
  EXPECT_EQ(model->num_tokens - tokens_before, 3u + 9);  // 131 - 128, then 9 decodes
}

TEST_F(EngineTest, WholePromptCachedCopiesTheLastPage) {
  make(200);
  submit(request(prompt(1, 64), 5));
  run_all();
  const auto again = submit(request(prompt(1, 64), 5)), same_time = submit(request(prompt(1, 64), 5));
  run_all();
  EXPECT_EQ(sink.answers[again].done.num_cached_tokens, 63u);
  EXPECT_EQ(sink.answers[again].ids, expected(prompt(1, 64), 5));
  EXPECT_EQ(sink.answers[same_time].ids, expected(prompt(1, 64), 5));
}

TEST_F(EngineTest, SaltAndNoCacheKeepPrefixesApart) {
  make(200);
  submit(request(prompt(1, 100), 1));
  run_all();
  auto salted = request(prompt(1, 100), 1);
  salted.salt = "other";
  auto uncached = request(prompt(1, 100), 1);
  uncached.use_cache = false;
  const auto a = submit(std::move(salted)), b = submit(std::move(uncached));
  run_all();
  EXPECT_EQ(sink.answers[a].done.num_cached_tokens, 0u);
  EXPECT_EQ(sink.answers[b].done.num_cached_tokens, 0u);
}

TEST_F(EngineTest, PreemptionRecomputesAndChangesNothing) {
  make(34, 16, 64);  // one full context and a little
  std::map<gainz_request_id, uint32_t> seeds;
  for (uint32_t i = 0; i < 12; ++i) seeds[submit(request(prompt(i, 40 + i), 90))] = i;
  run_all();
  for (const auto& [id, i] : seeds) EXPECT_EQ(sink.answers[id].ids, expected(prompt(i, 40 + i), 90)) << "request " << i;
  EXPECT_GT(engine->stats().num_preemptions, 0u);
}

TEST_F(EngineTest, FewWindowedPagesAreTakenBack) {
  make(200, 4, 32, 20);  // windowed group: 19 pages of 16 for contexts of up to 512
  std::map<gainz_request_id, uint32_t> seeds;
  for (uint32_t i = 0; i < 6; ++i) seeds[submit(request(prompt(i, 200 + 10 * i), 40))] = i;
  run_all();
  for (const auto& [id, i] : seeds) EXPECT_EQ(sink.answers[id].ids, expected(prompt(i, 200 + 10 * i), 40)) << "request " << i;
}

TEST_F(EngineTest, PreemptAfterIsHonouredOnce) {
  make(200);
  auto r = request(prompt(3, 50), 40);
  r.preempt_after = 10;
  const auto id = submit(std::move(r));
  run_all();
  EXPECT_EQ(sink.answers[id].ids, expected(prompt(3, 50), 40));
  EXPECT_EQ(sink.answers[id].done.num_preemptions, 1u);
}

TEST_F(EngineTest, HigherPriorityRunsFirst) {
  make(200, 1, 64);
  const auto low = submit(request(prompt(1, 10), 30));
  engine->tick(0);
  auto r = request(prompt(2, 10), 5);
  r.priority = 1;
  const auto high = submit(std::move(r));
  while (sink.answers[high].num_done == 0) ASSERT_TRUE(engine->tick(0));
  EXPECT_EQ(sink.answers[low].num_done, 0);
  run_all();
  EXPECT_EQ(sink.answers[low].ids, expected(prompt(1, 10), 30));
}

TEST_F(EngineTest, RandomTrafficUnderPressure) {
  std::mt19937 random(11);
  for (int round = 0; round < 6; ++round) {
    make(34 + random() % 40, 1 + random() % 8, 16 + random() % 50, 34 + random() % 10);
    std::map<gainz_request_id, std::pair<std::vector<int32_t>, int32_t>> wanted;
    std::vector<gainz_request_id> cancelled;
    for (int i = 0; i < 60; ++i) {
      auto ids = prompt(random() % 5, 1 + random() % 180);  // few seeds: prefixes are shared
      const int32_t count = int32_t(random() % 60);
      auto r = request(ids, count);
      r.priority = int32_t(random() % 3);
      r.preempt_after = random() % 4 == 0 ? random() % 20 : 0;
      r.use_cache = random() % 5 != 0;
      const auto id = submit(std::move(r));
      if (random() % 8 == 0)
        cancelled.push_back(id);
      else
        wanted[id] = {ids, count};
      for (uint32_t n = random() % 6; n > 0; --n) engine->tick(0);
      if (!cancelled.empty() && random() % 2) engine->cancel(cancelled.back());
    }
    for (const auto id : cancelled) engine->cancel(id);
    run_all();
    for (const auto& [id, want] : wanted) EXPECT_EQ(sink.answers[id].ids, expected(want.first, size_t(want.second)));
    for (const auto& [id, answer] : sink.answers) EXPECT_EQ(answer.num_done, 1);
    EXPECT_EQ(engine->stats().pages_used, 0u);
    sink.answers.clear();
  }
}

TEST_F(EngineTest, CancelIsAnsweredWithinASlice) {
  make(200);
  const auto id = submit(request(prompt(1, 100), -1));
  for (int i = 0; i < 5; ++i) engine->tick(0);
  engine->cancel(id);
  engine->cancel(id);
  engine->cancel(999);
  run_all();
  EXPECT_EQ(sink.answers[id].num_done, 1);
  EXPECT_EQ(sink.answers[id].done.finish_reason, uint32_t(GAINZ_FINISH_CANCELLED));
  EXPECT_EQ(engine->stats().pages_used, 0u);
}

TEST_F(EngineTest, CancelBeforeStartAndTimeout) {
  make(200);
  const auto never = submit(request(prompt(1, 100), 5));
  engine->cancel(never);
  auto late = request(prompt(1, 100), 5);
  late.deadline_us = 1;
  const auto timed_out = submit(std::move(late));
  run_all();
  EXPECT_TRUE(sink.answers[never].ids.empty());
  EXPECT_EQ(sink.answers[never].done.code, GAINZ_CANCELLED);
  EXPECT_EQ(sink.answers[timed_out].done.finish_reason, uint32_t(GAINZ_FINISH_TIMEOUT));
}

TEST_F(EngineTest, AFailedStepEndsItsRequestsAndTheNextWorks) {
  make(200);
  const auto id = submit(request(prompt(1, 30), 10));
  engine->tick(0);
  model->fail_next = Status(Code::internal, "broken on purpose");
  run_all();
  EXPECT_EQ(sink.answers[id].done.code, GAINZ_INTERNAL);
  EXPECT_EQ(sink.answers[id].error, "broken on purpose");
  const auto next = submit(request(prompt(1, 30), 10));
  run_all();
  EXPECT_EQ(sink.answers[next].ids, expected(prompt(1, 30), 10));
}

TEST_F(EngineTest, ALostDeviceEndsEverythingAtOnce) {
  make(200, 2);
  std::vector<gainz_request_id> ids;
  for (uint32_t i = 0; i < 5; ++i) ids.push_back(submit(request(prompt(i, 30), 10)));
  engine->tick(0);
  model->fail_next = Status(Code::device_lost, "gone");
  run_all();
  const auto later = submit(request(prompt(1, 30), 10));
  run_all();
  ids.push_back(later);
  for (const auto id : ids) {
    EXPECT_EQ(sink.answers[id].num_done, 1);
    EXPECT_EQ(sink.answers[id].done.code, GAINZ_DEVICE_LOST);
  }
}

TEST_F(EngineTest, MaxTokensZeroMakesNone) {
  make(200);
  const auto id = submit(request(prompt(1, 30), 0));
  run_all();
  EXPECT_TRUE(sink.answers[id].ids.empty());
  EXPECT_EQ(sink.answers[id].done.finish_reason, uint32_t(GAINZ_FINISH_LENGTH));
  EXPECT_EQ(sink.answers[id].num_done, 1);
}

TEST_F(EngineTest, TheContextIsTheEnd) {
  make(200);
  const auto id = submit(request(prompt(1, 500), -1));
  run_all();
  EXPECT_EQ(sink.answers[id].ids, expected(prompt(1, 500), 12));
  EXPECT_EQ(sink.answers[id].done.finish_reason, uint32_t(GAINZ_FINISH_LENGTH));
}

TEST_F(EngineTest, LogitsAtPositionsAlsoAmongGeneratedIds) {
  make(200);
  const auto ids = prompt(4, 120);
  auto r = request(ids, -1);
  r.kind = GAINZ_REQUEST_LOGITS;
  r.positions = {0, 17, 63, 64, 100, 119};
  r.num_generated_ids = 30;
  const auto filler = submit(request(prompt(9, 50), 100));
  const auto id = submit(std::move(r));
  run_all();
  ASSERT_EQ(sink.answers[id].logits.size(), 6u);
  for (const auto& [position, row] : sink.answers[id].logits)
    EXPECT_EQ(row, FakeModel::logits_after(std::span(ids).first(position + 1), kVocab)) << position;
  EXPECT_EQ(sink.answers[filler].ids, expected(prompt(9, 50), 100));
}

TEST_F(EngineTest, PromptLogprobsForEveryTokenButTheFirst) {
  make(200);
  submit(request(prompt(4, 70), 3));  // leaves a prefix that must not be used: its rows are wanted
  run_all();
  auto r = request(prompt(4, 70), 3);
  r.prompt_logprobs = 2;
  const auto id = submit(std::move(r));
  run_all();
  const Answer& a = sink.answers[id];
  ASSERT_EQ(a.prompt_logprobs.size(), 69u);
  for (uint32_t i = 0; i < 69; ++i) {
    EXPECT_EQ(a.prompt_logprobs[i].position, i + 1);
    EXPECT_EQ(a.prompt_logprobs[i].id, prompt(4, 70)[i + 1]);
    EXPECT_LT(a.prompt_logprobs[i].logprob, 0);
  }
  EXPECT_EQ(a.ids, expected(prompt(4, 70), 3));
}

TEST_F(EngineTest, EmbeddingsPoolMeanOrLast) {
  make(200);
  auto mean = request(prompt(1, 101), -1), last = request(prompt(1, 101), -1);
  mean.kind = last.kind = GAINZ_REQUEST_EMBED;
  last.pooling = GAINZ_POOLING_LAST;
  const auto a = submit(std::move(mean)), b = submit(std::move(last));
  run_all();
  EXPECT_EQ(sink.answers[a].embedding, (std::vector<float>{50, 50.25, 50.5, 50.75}));
  EXPECT_EQ(sink.answers[b].embedding, (std::vector<float>{100, 100.25, 100.5, 100.75}));
}

TEST_F(EngineTest, SeededSamplingIsTheSameAloneAndInABatch) {
  make(400);
  auto sampled = [&](uint32_t seed) {
    auto r = request(prompt(seed, 60), 40);
    r.sampling.temperature = 1.5f;
    r.sampling.seed = seed;
    r.sampling.ignore_eos = true;
    return r;
  };
  std::vector<std::vector<int32_t>> alone;
  for (uint32_t i = 0; i < 8; ++i) {
    const auto id = submit(sampled(i));
    run_all();
    alone.push_back(sink.answers[id].ids);
  }
  std::vector<gainz_request_id> ids;
  for (uint32_t i = 0; i < 8; ++i) {
    auto r = sampled(i);
    r.preempt_after = i;
    ids.push_back(submit(std::move(r)));
  }
  run_all();
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(sink.answers[ids[i]].ids, alone[i]);
}

TEST_F(EngineTest, OwnThreadServesCallersFromManyThreads) {
  make(300);
  ASSERT_TRUE(engine->start().ok());
  std::vector<std::thread> callers;
  std::mutex id_mutex;
  std::map<gainz_request_id, uint32_t> seeds;
  for (uint32_t t = 0; t < 4; ++t) {
    callers.emplace_back([&, t] {
      for (uint32_t i = 0; i < 10; ++i) {
        std::unique_lock lock(id_mutex);
        auto r = request(prompt(t * 10 + i, 20 + i), 15);
        seeds[r.id] = t * 10 + i;
        lock.unlock();
        const auto id = submit(std::move(r));
        if (i == 5) engine->cancel(id);
        engine->stats();
      }
    });
  }
  for (auto& caller : callers) caller.join();
  for (;;) {
    std::lock_guard lock(sink.mutex);
    size_t done = 0;
    for (const auto& [id, a] : sink.answers) done += size_t(a.num_done);
    if (done == 40) break;
  }
  engine.reset();
  for (const auto& [id, seed] : seeds) {
    if (seed % 10 == 5) continue;  // cancelled
    EXPECT_EQ(sink.answers[id].ids, expected(prompt(seed, 20 + seed % 10), 15));
  }
}

TEST_F(EngineTest, DestroyingEndsWhatIsLeft) {
  make(200);
  const auto running = submit(request(prompt(1, 30), -1));
  engine->tick(0);
  const auto queued = submit(request(prompt(2, 30), -1));
  engine.reset();
  EXPECT_EQ(sink.answers[running].num_done, 1);
  EXPECT_EQ(sink.answers[queued].num_done, 1);
  EXPECT_EQ(sink.answers[queued].done.code, GAINZ_CANCELLED);
}

}  // namespace
}  // namespace gainz
