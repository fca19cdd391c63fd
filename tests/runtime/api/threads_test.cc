// The C API from many threads at once; run under ThreadSanitizer too.
#include <atomic>
#include <thread>

#include "runtime/api/api_fixture.h"

namespace gainz::test {
namespace {

void own_threads(gainz_runtime_config& config) {
  config.thread_mode = GAINZ_THREADS_OWN;
  config.num_threads = 2;
}

TEST(threads, four_submit_poll_and_cancel) {
  TestRuntime runtime(own_threads);
  const gainz_model_id model = runtime.load();
  const Answer expected = runtime.ask(model, Ask::prompt(some_ids(20, 1), 6));
  std::atomic<int> num_wrong{0}, num_cancelled{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 15; ++i) {
        Ask ask = Ask::prompt(some_ids(20, 1), 6);
        gainz_request_id request = 0;
        if (gainz_submit(runtime, ask.view(model), &request, nullptr, 0) != GAINZ_OK) ++num_wrong;
        if ((i + t) % 4 == 0) gainz_cancel(runtime, request);
        gainz_model_stats stats{sizeof(gainz_model_stats)};
        gainz_model_get_stats(runtime, model, &stats);
        std::vector<int32_t> ids;
        gainz_code code = GAINZ_BUSY;
        for (bool done = false; !done;) {
          const gainz_event* event = nullptr;
          if (gainz_poll(runtime, request, -1, &event) != GAINZ_OK) {
            ++num_wrong;
            break;
          }
          if (event->kind == GAINZ_EVENT_TOKEN) ids.push_back(event->id);
          done = event->kind == GAINZ_EVENT_DONE;
          if (done) code = event->code;
          gainz_event_release(runtime, event);
        }
        if (code == GAINZ_CANCELLED)
          ++num_cancelled;
        else if (ids != expected.ids)
          ++num_wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(num_wrong.load(), 0);
  EXPECT_LE(num_cancelled.load(), 16);
  EXPECT_EQ(runtime.stats(model).pages_used, 0u);
}

// One thread takes the events of everybody.
TEST(threads, three_submit_and_one_polls_any) {
  TestRuntime runtime(own_threads);
  const gainz_model_id model = runtime.load();
  constexpr int kEach = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        Ask ask = Ask::prompt(some_ids(size_t(5 + i), uint64_t(t)), 3);
        gainz_request_id request = 0;
        EXPECT_EQ(gainz_submit(runtime, ask.view(model), &request, nullptr, 0), GAINZ_OK);
      }
    });
  int num_done = 0;
  for (int empty = 0; num_done < 3 * kEach && empty < 600;) {
    const gainz_event* event = nullptr;
    if (gainz_poll(runtime, 0, 100, &event) != GAINZ_OK) {
      ++empty;
      continue;
    }
    num_done += event->kind == GAINZ_EVENT_DONE;
    gainz_event_release(runtime, event);
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(num_done, 3 * kEach);
}

TEST(threads, a_model_is_unloaded_while_others_poll_and_submit) {
  for (const uint32_t mode : {GAINZ_THREADS_OWN, GAINZ_THREADS_TICK}) {
    TestRuntime runtime(
        [&](gainz_runtime_config& c) { c.thread_mode = mode, c.num_threads = mode == GAINZ_THREADS_OWN ? 2 : 1; });
    const gainz_model_id model = runtime.load();
    std::atomic<bool> gone{false};
    std::atomic<int> num_open{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        for (;;) {
          Ask ask = Ask::prompt(some_ids(30, 1), -1);
          ask.config.sampling.ignore_eos = 1;
          gainz_request_id request = 0;
          const gainz_code code = gainz_submit(runtime, ask.view(model), &request, nullptr, 0);
          if (code == GAINZ_NOT_FOUND) return;
          EXPECT_EQ(code, GAINZ_OK);
          ++num_open;
          for (bool done = false; !done;) {
            const gainz_event* event = nullptr;
            const gainz_code got = gainz_poll(runtime, request, 5, &event);
            if (got == GAINZ_BUSY) {
              std::this_thread::yield();
              continue;
            }
            ASSERT_EQ(got, GAINZ_OK);
            done = event->kind == GAINZ_EVENT_DONE;
            gainz_event_release(runtime, event);
          }
        }
      });
    if (mode == GAINZ_THREADS_TICK)
      threads.emplace_back([&] {
        while (!gone) EXPECT_EQ(gainz_tick(runtime, 100, nullptr, nullptr, 0), GAINZ_OK);
      });
    while (num_open < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
    gone = true;
    for (auto& thread : threads) thread.join();
    const gainz_event* event = nullptr;
    EXPECT_EQ(gainz_poll(runtime, 0, 0, &event), GAINZ_BUSY) << "every request was read to its end";
  }
}

TEST(threads, models_are_loaded_side_by_side) {
  TestRuntime runtime(own_threads);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      gainz_model_config config;
      gainz_model_config_init(&config);
      config.path = tiny_file().path.c_str();
      config.backend = "reference";
      gainz_model_id model = 0;
      char error[256];
      ASSERT_EQ(gainz_model_load(runtime, &config, &model, error, sizeof error), GAINZ_OK) << error;
      EXPECT_EQ(gainz_devices_refresh(runtime, nullptr, 0), GAINZ_OK);
      EXPECT_GT(gainz_plugin_count(runtime), 0u);
      EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace gainz::test
