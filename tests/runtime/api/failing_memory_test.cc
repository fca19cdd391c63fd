// Every allocation fails once, in a load and in a request: a status or a last event says so, and what comes next works.
#include "runtime/api/counting_new.h"
// after the operators
#include <memory>

#include "runtime/api/api_fixture.h"

namespace gainz::test {
namespace {

constexpr uint64_t kEveryUpTo = 300;  // beyond, a stride: loads make thousands of small allocations alike

uint64_t next_number(uint64_t n, uint64_t total) {
  return n < kEveryUpTo ? n + 1 : n + std::max<uint64_t>(1, (total - kEveryUpTo) / 200);
}

// The hook's memory, one of whose calls can fail.
struct Hook {
  uint64_t num_calls = 0, failing = 0, num_out = 0;
  static void* allocate(void* ctx, size_t size_bytes, size_t alignment) {
    auto& self = *static_cast<Hook*>(ctx);
    if (++self.num_calls == self.failing) return nullptr;
    ++self.num_out;
    return aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
  }
  static void release(void* ctx, void* memory, size_t, size_t) {
    --static_cast<Hook*>(ctx)->num_out;
    free(memory);
  }
  void lend(gainz_runtime_config& config) { config.hook_ctx = this, config.allocate = allocate, config.release = release; }
};

gainz_model_id load_tiny(gainz_runtime* runtime, gainz_code* out_code, const std::string& path) {
  gainz_model_config config;
  gainz_model_config_init(&config);
  config.path = path.c_str();
  config.backend = "reference";
  config.max_sequences = 4;
  config.batch_tokens = 32;
  gainz_model_id model = 0;
  char error[256];
  *out_code = gainz_model_load(runtime, &config, &model, error, sizeof error);
  return model;
}

TEST(failing_memory, of_the_hook_in_a_load) {
  Hook hook;
  TestRuntime runtime([&](gainz_runtime_config& c) { hook.lend(c); });
  gainz_code code;
  const gainz_model_id first = load_tiny(runtime, &code, tiny_file().path);
  ASSERT_EQ(code, GAINZ_OK);
  const uint64_t total = hook.num_calls;
  EXPECT_GT(total, 3u);
  EXPECT_EQ(gainz_model_unload(runtime, first, nullptr, 0), GAINZ_OK);
  EXPECT_EQ(hook.num_out, 0u);
  for (uint64_t n = 1; n <= total; ++n) {
    hook.num_calls = 0;
    hook.failing = n;
    EXPECT_EQ(load_tiny(runtime, &code, tiny_file().path), 0u) << n;
    EXPECT_TRUE(code == GAINZ_OUT_OF_HOST_MEMORY || code == GAINZ_OUT_OF_DEVICE_MEMORY) << code;
    EXPECT_EQ(hook.num_out, 0u) << n;
  }
  hook.failing = 0;
  EXPECT_EQ(runtime.ask(load_tiny(runtime, &code, tiny_file().path), Ask::prompt({5, 6}, 2)).code, GAINZ_OK);
}

TEST(failing_memory, of_operator_new_in_create) {
  const std::string folder = plugin_folder();
  for (uint64_t n = 1;; ++n) {
    gainz_runtime_config config;
    gainz_runtime_config_init(&config);
    config.num_threads = 2;
    config.plugin_path = folder.c_str();
    gainz_runtime* runtime = nullptr;
    char error[128];
    num_failed_new = 0;
    failing_new = num_new + n;
    const gainz_code code = gainz_runtime_create(&config, &runtime, error, sizeof error);
    failing_new = 0;
    if (num_failed_new == 0) {
      EXPECT_EQ(code, GAINZ_OK);
      gainz_runtime_destroy(runtime);
      EXPECT_GT(n, 10u);
      break;
    }
    EXPECT_TRUE(code == GAINZ_OK || code == GAINZ_OUT_OF_HOST_MEMORY) << code << error;
    EXPECT_EQ(code == GAINZ_OK, runtime != nullptr);
    gainz_runtime_destroy(runtime);
  }
}

TEST(failing_memory, of_operator_new_in_a_load) {
  TestRuntime runtime;
  const std::string path = tiny_file().path;
  gainz_code code;
  ASSERT_EQ(gainz_model_unload(runtime, load_tiny(runtime, &code, path), nullptr, 0), GAINZ_OK);
  const uint64_t before = num_new;
  failing_new = 0;
  gainz_model_id model = load_tiny(runtime, &code, path);
  const uint64_t total = num_new - before;
  ASSERT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
  const size_t files = num_files_open();
  for (uint64_t n = 1; n <= total; n = next_number(n, total)) {
    failing_new = num_new + n;
    model = load_tiny(runtime, &code, path);
    failing_new = 0;
    EXPECT_TRUE(code == GAINZ_OUT_OF_HOST_MEMORY || code == GAINZ_OK) << n << " of " << total << ": " << code;
    if (code == GAINZ_OK) {  // what failed was not needed
      EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
    } else {
      EXPECT_EQ(model, 0u);
    }
    ASSERT_EQ(num_files_open(), files) << n;
  }
  EXPECT_EQ(runtime.ask(load_tiny(runtime, &code, path), Ask::prompt({5, 6}, 2)).code, GAINZ_OK);
}

// The first load of a runtime finds and maps its plugin: what fails there for want of memory must not condemn it.
TEST(failing_memory, of_operator_new_while_a_plugin_is_loaded) {
  gainz_code code;
  uint64_t num_failed = 0;
  (void)tiny_file();  // made before any allocation fails
  for (uint64_t n = 1; n < 4000; n += n < 60 ? 1 : 79) {
    TestRuntime runtime;
    failing_new = num_new + n;
    num_failed_new = 0;
    load_tiny(runtime, &code, tiny_file().path);
    failing_new = 0;
    num_failed += num_failed_new;
    EXPECT_TRUE(code == GAINZ_OUT_OF_HOST_MEMORY || code == GAINZ_OK) << n << ": " << code;
    if (code != GAINZ_OK) load_tiny(runtime, &code, tiny_file().path);
    ASSERT_EQ(code, GAINZ_OK) << "where allocation " << n << " failed the first time";
  }
  EXPECT_GT(num_failed, 60u);
}

struct Case {
  const char* name;
  uint32_t thread_mode;
  Ask (*make)();
};

class FailingRequest : public testing::TestWithParam<Case> {};

TEST_P(FailingRequest, always_ends) {
  static const char* const kStops[] = {"never"};
  TestRuntime runtime([](gainz_runtime_config& c) { c.thread_mode = GetParam().thread_mode; });
  gainz_code code;
  const gainz_model_id model = load_tiny(runtime, &code, tiny_file().path);
  Ask ask = GetParam().make();
  ask.config.sampling.stop = kStops, ask.config.sampling.num_stop = 1;
  const Answer expected = runtime.ask(model, ask);
  ASSERT_EQ(expected.code, GAINZ_OK) << expected.error;
  uint64_t num_clean = 0;
  for (uint64_t n = 1; num_clean < 3; ++n) {
    ASSERT_LT(n, 20000u);
    ask.view(model);
    num_failed_new = 0;
    failing_new = num_new + n;
    gainz_request_id request = 0;
    const gainz_code submitted = gainz_submit(runtime, &ask.config, &request, runtime.error, sizeof runtime.error);
    gainz_code ended = GAINZ_BUSY;
    uint32_t num_done = 0;
    if (submitted == GAINZ_OK) {
      for (int rounds = 0; num_done == 0 && rounds < 20000; ++rounds) {
        if (GetParam().thread_mode == GAINZ_THREADS_TICK) gainz_tick(runtime, 1000000, nullptr, nullptr, 0);
        const gainz_event* event = nullptr;
        if (gainz_poll(runtime, request, 2, &event) != GAINZ_OK) continue;
        if (event->kind == GAINZ_EVENT_DONE) ++num_done, ended = event->code;
        gainz_event_release(runtime, event);
      }
      ASSERT_EQ(num_done, 1u) << "no last event where allocation " << n << " fails";
    }
    failing_new = 0;
    if (num_failed_new == 0)
      ++num_clean;
    else
      num_clean = 0;
    const gainz_code outcome = submitted == GAINZ_OK ? ended : submitted;
    EXPECT_TRUE(outcome == GAINZ_OK || outcome == GAINZ_OUT_OF_HOST_MEMORY) << n << ": " << outcome << " " << runtime.error;
    if (n % 16 != 0) continue;
    const Answer next = runtime.ask(model, ask);
    ASSERT_EQ(next.code, GAINZ_OK) << n << ": " << next.error;
    ASSERT_EQ(next.ids, expected.ids);
    ASSERT_EQ(next.embedding, expected.embedding);
  }
  EXPECT_EQ(runtime.ask(model, ask).ids, expected.ids);
  EXPECT_EQ(runtime.stats(model).pages_used, 0u);
}

Ask plain() {
  Ask ask = Ask::prompt(some_ids(40, 1), 6);
  ask.config.sampling.temperature = 0.8f;
  ask.config.sampling.logprobs = 4;
  ask.config.sampling.ignore_eos = 1;
  ask.config.prompt_logprobs = 3;
  ask.config.preempt_after = 3;
  ask.config.timeout_ms = 60000;
  return ask;
}
Ask chat() { return Ask::chat(R"([{"role":"user","content":"tell me <|im_end|> all"}])", 3); }
Ask embed() {
  Ask ask = Ask::prompt(some_ids(40, 1));
  ask.config.kind = GAINZ_REQUEST_EMBED;
  return ask;
}
Ask rows() { return Ask::logits(some_ids(40, 1), {1, 20, 39}, 5); }

INSTANTIATE_TEST_SUITE_P(kinds, FailingRequest,
                         testing::Values(Case{"plain", GAINZ_THREADS_TICK, plain}, Case{"chat", GAINZ_THREADS_TICK, chat},
                                         Case{"embed", GAINZ_THREADS_TICK, embed}, Case{"rows", GAINZ_THREADS_TICK, rows},
                                         Case{"plain_on_the_runtimes_thread", GAINZ_THREADS_OWN, plain}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace gainz::test
