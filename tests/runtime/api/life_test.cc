// Laws 4 and 5: nothing grows while requests come and go, nothing stays when a runtime is closed.
#include <malloc.h>

#include <map>
#include <memory>

#include "runtime/api/api_fixture.h"

namespace gainz::test {
namespace {

// The caller's allocator, which knows what is out.
struct Allocator {
  std::map<void*, std::pair<size_t, size_t>> blocks;
  size_t most_bytes = 0, bytes = 0;
  static void* allocate(void* ctx, size_t size_bytes, size_t alignment) {
    auto& self = *static_cast<Allocator*>(ctx);
    void* memory = nullptr;
    if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), size_bytes) != 0) return nullptr;
    self.blocks[memory] = {size_bytes, alignment};
    self.most_bytes = std::max(self.most_bytes, self.bytes += size_bytes);
    return memory;
  }
  static void release(void* ctx, void* memory, size_t size_bytes, size_t alignment) {
    auto& self = *static_cast<Allocator*>(ctx);
    const auto it = self.blocks.find(memory);
    ASSERT_NE(it, self.blocks.end()) << "released what was not allocated";
    EXPECT_EQ(it->second, std::make_pair(size_bytes, alignment));
    self.bytes -= size_bytes;
    self.blocks.erase(it);
    free(memory);
  }
  void lend(gainz_runtime_config& config) { config.hook_ctx = this, config.allocate = allocate, config.release = release; }
};

class TwoRuntimes : public testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(TwoRuntimes, in_one_process_leave_nothing_in_either_order) {
  const auto [first_goes_first, owns_threads] = GetParam();
  {
    TestRuntime warm_up;
    EXPECT_NE(warm_up.load(), 0u);
  }  // maps the plugins, which stay mapped
  const size_t threads = num_threads_alive(), files = num_files_open();
  Allocator memory[2];
  {
    std::unique_ptr<TestRuntime> runtimes[2];
    gainz_model_id models[2];
    for (int i : {0, 1}) {
      runtimes[i] = std::make_unique<TestRuntime>([&](gainz_runtime_config& c) {
        memory[i].lend(c);
        c.thread_mode = owns_threads ? GAINZ_THREADS_OWN : GAINZ_THREADS_TICK;
        c.num_threads = owns_threads ? 3 : 1;
      });
      EXPECT_EQ(gainz_devices_refresh(*runtimes[i], nullptr, 0), GAINZ_OK);
      models[i] = runtimes[i]->load();
    }
    const Ask ask = Ask::prompt(some_ids(40, 1), 10);
    const Answer a = runtimes[0]->ask(models[0], ask), b = runtimes[1]->ask(models[1], ask);
    EXPECT_EQ(a.ids, b.ids);
    EXPECT_GT(memory[0].most_bytes, 100000u) << "pages go through the hook";
    Ask running = Ask::prompt(some_ids(40, 2), -1);
    for (int i : {0, 1}) runtimes[i]->submit(models[i], running);
    for (int i : {0, 1})
      if (!owns_threads) gainz_tick(*runtimes[i], 0, nullptr, nullptr, 0);
    runtimes[first_goes_first ? 0 : 1].reset();
    const int other = first_goes_first ? 1 : 0;
    EXPECT_EQ(memory[1 - other].blocks.size(), 0u);
    EXPECT_EQ(runtimes[other]->ask(models[other], ask).ids, a.ids) << "the other one goes on";
  }
  EXPECT_EQ(memory[0].blocks.size(), 0u);
  EXPECT_EQ(memory[1].blocks.size(), 0u);
  EXPECT_EQ(num_threads_alive(), threads);
  EXPECT_EQ(num_files_open(), files);
}
INSTANTIATE_TEST_SUITE_P(orders, TwoRuntimes, testing::Combine(testing::Bool(), testing::Bool()));

// What malloc has given out; the resident size also moves with how it cuts its arenas. Under a sanitizer always 0.
size_t used_kib() {
  const struct mallinfo2 info = mallinfo2();
  return (info.uordblks + info.hblkhd) / 1024;
}

void serve(TestRuntime& runtime, gainz_model_id model, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Ask ask =
        i % 7 == 3 ? Ask::chat(R"([{"role":"user","content":"hello there"}])", 3) : Ask::prompt(some_ids(5 + i % 60, i), 3);
    ask.config.sampling.temperature = float(i % 3) * 0.5f;
    if (i % 11 == 5) ask = Ask::logits(some_ids(20, i), {3, 19});
    ask.config.sampling.logprobs = i % 5 == 0 ? 3 : -1;
    const gainz_request_id request = runtime.submit(model, ask);
    ASSERT_EQ(runtime.code, GAINZ_OK) << runtime.error;
    if (i % 13 == 6) gainz_cancel(runtime, request);
    ASSERT_EQ(runtime.finish(request).num_done, 1u);
  }
}

TEST(life, three_hundred_requests_leave_memory_files_and_threads_flat) {
  for (const uint32_t mode : {GAINZ_THREADS_TICK, GAINZ_THREADS_OWN}) {
    Allocator memory;
    TestRuntime runtime([&](gainz_runtime_config& c) { memory.lend(c), c.thread_mode = mode; });
    const gainz_model_id model = runtime.load();
    serve(runtime, model, 300);  // until as many used events are kept as may be
    const size_t threads = num_threads_alive(), files = num_files_open(), bytes = memory.bytes, kib = used_kib();
    serve(runtime, model, 300);
    EXPECT_EQ(num_threads_alive(), threads);
    EXPECT_EQ(num_files_open(), files);
    EXPECT_EQ(memory.bytes, bytes);
    EXPECT_LT(used_kib(), kib + 64);
  }
}

TEST(life, models_come_and_go) {
  TestRuntime runtime;
  runtime.ask(runtime.load(), Ask::prompt({5}, 1));
  const size_t files = num_files_open();
  size_t kib = 0;
  for (int i = 0; i < 20; ++i) {
    const gainz_model_id model = runtime.load();
    EXPECT_EQ(runtime.ask(model, Ask::prompt({5, 6}, 2)).code, GAINZ_OK);
    EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
    EXPECT_EQ(num_files_open(), files);
    if (i == 5) kib = used_kib();
  }
  EXPECT_LT(used_kib(), kib + 64);
}

}  // namespace
}  // namespace gainz::test
