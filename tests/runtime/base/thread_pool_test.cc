#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <time.h>

#include <chrono>
#include <numeric>

namespace gainz {
namespace {

struct Sums {
  std::vector<std::atomic<uint32_t>> seen;
  std::vector<std::atomic<int>> busy;
  std::atomic<bool> shared{false};
};

void count_each(void* arg, uint64_t begin, uint64_t end, uint32_t worker) {
  auto& sums = *static_cast<Sums*>(arg);
  if (sums.busy[worker].fetch_add(1) != 0) sums.shared = true;
  for (uint64_t i = begin; i < end; ++i) sums.seen[i].fetch_add(1, std::memory_order_relaxed);
  sums.busy[worker].fetch_sub(1);
}

TEST(ThreadPool, EveryIndexOnceAndNoWorkerTwice) {
  for (uint32_t num_threads : {1u, 2u, 3u, 8u}) {
    auto pool = ThreadPool::create(num_threads);
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    for (uint64_t count : {0, 1, 2, 7, 64, 1000}) {
      for (uint64_t grain : {0, 1, 3, 64, 5000}) {
        Sums sums{std::vector<std::atomic<uint32_t>>(count), std::vector<std::atomic<int>>(num_threads), false};
        (*pool)->parallel_for(count, grain, count_each, &sums);
        for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(sums.seen[i], 1u) << i << " of " << count << " grain " << grain;
        EXPECT_FALSE(sums.shared);
      }
    }
  }
}

TEST(ThreadPool, ManyShortCallsInARow) {
  auto pool = ThreadPool::create(3);
  ASSERT_TRUE(pool.ok());
  std::atomic<uint64_t> total{0};
  for (int call = 0; call < 20000; ++call) {
    (*pool)->parallel_for(
        4, 1,
        [](void* arg, uint64_t begin, uint64_t, uint32_t) { static_cast<std::atomic<uint64_t>*>(arg)->fetch_add(begin + 1); },
        &total);
    ASSERT_EQ(total.load(), uint64_t(call + 1) * 10);
  }
}

// A worker that comes late to a short call must not take the number of a longer one that is just being set up: it would do one
// chunk twice, and the caller would wait for ever.
TEST(ThreadPool, LateWorkersDoNotTakeFromTheNextCall) {
  auto pool = ThreadPool::create(8);
  ASSERT_TRUE(pool.ok());
  Sums few{std::vector<std::atomic<uint32_t>>(2), std::vector<std::atomic<int>>(8), false};
  Sums many{std::vector<std::atomic<uint32_t>>(40), std::vector<std::atomic<int>>(8), false};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (uint32_t call = 1; std::chrono::steady_clock::now() < end; ++call) {
    (*pool)->parallel_for(few.seen.size(), 1, count_each, &few);
    (*pool)->parallel_for(many.seen.size(), 1, count_each, &many);
    for (const Sums* sums : {&few, &many}) {
      for (const auto& seen : sums->seen) ASSERT_EQ(seen, call);
    }
  }
}

// Both workers hold a chunk at once, so each holds the first of its own run.
TEST(ThreadPool, EachWorkerBeginsWithItsOwnRun) {
  struct Firsts {
    std::atomic<uint32_t> num_come{0};
    std::atomic<uint64_t> begin[2] = {UINT64_MAX, UINT64_MAX};
  } firsts;
  auto pool = ThreadPool::create(2);
  ASSERT_TRUE(pool.ok());
  (*pool)->parallel_for(
      100, 5,
      [](void* arg, uint64_t begin, uint64_t, uint32_t worker) {
        auto& f = *static_cast<Firsts*>(arg);
        uint64_t none = UINT64_MAX;
        if (!f.begin[worker].compare_exchange_strong(none, begin)) return;
        f.num_come.fetch_add(1);
        while (f.num_come != 2) std::this_thread::yield();
      },
      &firsts);
  EXPECT_EQ(firsts.begin[0], 0u);
  EXPECT_EQ(firsts.begin[1], 50u);
}

TEST(ThreadPool, MoreRunsThanAWorkerCanCount) {
  struct Total {
    std::atomic<uint64_t> sum{0}, num_indices{0}, too_long{0};
  } total;
  auto pool = ThreadPool::create(2);
  ASSERT_TRUE(pool.ok());
  const uint64_t count = (uint64_t{1} << 23) + 5;
  (*pool)->parallel_for(
      count, 2,
      [](void* arg, uint64_t begin, uint64_t end, uint32_t) {
        auto& t = *static_cast<Total*>(arg);
        t.sum += begin * (end - begin) + (end - begin == 2 ? 1 : 0);
        t.num_indices += end - begin;
        if (end - begin > 2) ++t.too_long;
      },
      &total);
  EXPECT_EQ(total.num_indices, count);
  EXPECT_EQ(total.sum, count * (count - 1) / 2);
  EXPECT_EQ(total.too_long, 0u);
}

TEST(ThreadPool, SecondCallerWorksAlone) {
  auto pool = ThreadPool::create(2);
  ASSERT_TRUE(pool.ok());
  std::atomic<uint64_t> total{0};
  auto hammer = [&] {
    for (int call = 0; call < 2000; ++call)
      (*pool)->parallel_for(
          8, 1, [](void* arg, uint64_t b, uint64_t e, uint32_t) { static_cast<std::atomic<uint64_t>*>(arg)->fetch_add(e - b); },
          &total);
  };
  std::thread other(hammer);
  hammer();
  other.join();
  EXPECT_EQ(total.load(), 2u * 2000 * 8);
}

TEST(ThreadPool, IdleUsesNoProcessor) {
  auto pool = ThreadPool::create(4);
  ASSERT_TRUE(pool.ok());
  int dummy = 0;
  (*pool)->parallel_for(
      16, 1, [](void*, uint64_t, uint64_t, uint32_t) {}, &dummy);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  timespec before{}, after{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  const double used_ms = (after.tv_sec - before.tv_sec) * 1e3 + (after.tv_nsec - before.tv_nsec) / 1e6;
  EXPECT_LT(used_ms, 30.0);
}

}  // namespace
}  // namespace gainz
