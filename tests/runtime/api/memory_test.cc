// Law 4: once warm, generating tokens calls operator new not once, in the runtime or in the plugin.
#include "runtime/api/counting_new.h"
// after the operators
#include "runtime/api/api_fixture.h"

namespace gainz::test {
namespace {

// Ticks until `count` tokens have come; events are released at once.
void take_tokens(TestRuntime& runtime, size_t count) {
  for (size_t seen = 0, rounds = 0; seen < count && rounds < 100000; ++rounds) {
    gainz_tick(runtime, 0, nullptr, nullptr, 0);
    const gainz_event* event = nullptr;
    while (gainz_poll(runtime, 0, 0, &event) == GAINZ_OK) {
      seen += event->kind == GAINZ_EVENT_TOKEN;
      gainz_event_release(runtime, event);
    }
  }
}

struct Backend {
  const char* name;
  bool drafts;  // with a draft model, always four tokens ahead
};
class Steady : public testing::TestWithParam<Backend> {};

TEST_P(Steady, decoding_allocates_nothing) {
  size_t hook_calls = 0;
  TestRuntime runtime([&](gainz_runtime_config& c) {
    c.hook_ctx = &hook_calls;
    c.allocate = [](void* ctx, size_t n, size_t a) -> void* {
      return ++*static_cast<size_t*>(ctx), aligned_alloc(a, (n + a - 1) / a * a);
    };
    c.release = [](void*, void* p, size_t, size_t) { free(p); };
  });
  const gainz_model_id model = runtime.load(tiny_file().path, [](gainz_model_config& c) {
    c.backend = GetParam().name;
    if (!GetParam().drafts) return;
    c.draft_path = tiny_file().path.c_str();
    c.speculation.mode = GAINZ_SPECULATION_FIXED;
    c.speculation.kinds = 1u << GAINZ_DRAFT_MODEL;
    c.speculation.depth = 4;
  });
  const char* const stops[] = {"never to be seen", "nor this"};
  std::vector<Ask> asks;
  for (int i = 0; i < 4; ++i) {
    asks.push_back(Ask::prompt(some_ids(size_t(20 + 9 * i), uint64_t(i)), 300));
    gainz_sampling& s = asks.back().config.sampling;
    s.ignore_eos = 1;
    s.temperature = float(i) * 0.5f;
    s.top_k = i == 2 ? 40 : 0;
    s.top_p = i == 3 ? 0.9f : 1;
    s.repetition_penalty = i == 1 ? 1.1f : 1;
    s.logprobs = i == 1 ? 5 : -1;
    s.stop = stops, s.num_stop = i == 2 ? 2 : 0;
  }
  for (Ask& ask : asks) ASSERT_NE(runtime.submit(model, ask), 0u) << runtime.error;
  take_tokens(runtime, 4 * 20);
  const uint64_t news = num_new.load();
  ASSERT_GT(news, 1000u) << "the runtime's calls are not seen";
  const size_t hooks = hook_calls;
  take_tokens(runtime, 4 * 200);
  EXPECT_EQ(num_new.load() - news, 0u);
  EXPECT_EQ(hook_calls, hooks);
}
INSTANTIATE_TEST_SUITE_P(backends, Steady,
                         testing::Values(Backend{"reference", false}, Backend{"onednn", false}, Backend{"onednn", true}),
                         [](const auto& test) { return std::string(test.param.name) + (test.param.drafts ? "_drafts" : ""); });

}  // namespace
}  // namespace gainz::test
