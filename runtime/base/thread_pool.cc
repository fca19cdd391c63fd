#include "base/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace gainz {
namespace {

constexpr auto kSpin = std::chrono::microseconds(40);
constexpr int kPausesPerClockRead = 32;

inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Spins until ready() for at most kSpin; true when it became ready.
template <class Ready>
bool spin_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (ready()) return true;
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

}  // namespace

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(uint32_t num_threads) {
  std::unique_ptr<ThreadPool> pool(new ThreadPool(std::max(num_threads, 1u)));
  pool->threads_.reserve(pool->num_threads_);
  try {
    for (uint32_t worker = 1; worker < pool->num_threads_; ++worker)
      pool->threads_.emplace_back([p = pool.get(), worker] { p->work(worker); });
  } catch (const std::system_error& e) {
    return Status(Code::out_of_host_memory, "cannot start thread " + std::to_string(pool->threads_.size() + 1) + " of " +
                                                std::to_string(num_threads - 1) + ": " + e.what());
  }
  return pool;
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stopping_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadPool::parallel_for(uint64_t count, uint64_t grain, Body body, void* arg) {
  if (count == 0) return;
  grain = std::max<uint64_t>(grain, 1);
  const uint64_t num_chunks = (count + grain - 1) / grain;
  if (num_chunks == 1 || num_threads_ == 1 || in_use_.test_and_set(std::memory_order_acquire)) {
    body(arg, 0, count, 0);
    return;
  }
  // First the claim is closed: a worker that comes late to the last job and sees a field of this one finds its claim gone.
  const uint64_t job = ((claim_.load(std::memory_order_relaxed) >> kIndexBits) + 1) << kIndexBits;
  claim_.store(job | kClosed, std::memory_order_relaxed);
  body_.store(body, std::memory_order_release);
  arg_.store(arg, std::memory_order_release);
  count_.store(count, std::memory_order_release);
  grain_.store(grain, std::memory_order_release);
  num_chunks_.store(num_chunks, std::memory_order_release);
  completed_.store(0, std::memory_order_relaxed);
  claim_.store(job, std::memory_order_release);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  take_chunks(0);
  const auto all_done = [&] { return completed_.load(std::memory_order_acquire) == num_chunks; };
  while (!spin_until(all_done)) std::this_thread::yield();
  in_use_.clear(std::memory_order_release);
}

// Takes chunks of the current job until none is left; true if it took any.
bool ThreadPool::take_chunks(uint32_t worker) {
  bool any = false;
  for (;;) {
    uint64_t claim = claim_.load(std::memory_order_acquire);
    const Body body = body_.load(std::memory_order_acquire);
    void* const arg = arg_.load(std::memory_order_acquire);
    const uint64_t count = count_.load(std::memory_order_acquire);
    const uint64_t grain = grain_.load(std::memory_order_acquire);
    const uint64_t num_chunks = num_chunks_.load(std::memory_order_acquire);
    const uint64_t chunk = claim & kClosed;
    if (chunk >= num_chunks) return any;
    // Success proves that the fields read above belong to this job: before one changes, the claim does.
    if (!claim_.compare_exchange_weak(claim, claim + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) continue;
    const uint64_t begin = chunk * grain;
    body(arg, begin, std::min(begin + grain, count), worker);
    completed_.fetch_add(1, std::memory_order_release);
    any = true;
  }
}

void ThreadPool::work(uint32_t worker) {
  uint32_t seen = 0;
  for (;;) {
    const auto changed = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
    if (!spin_until(changed)) epoch_.wait(seen, std::memory_order_acquire);
    seen = epoch_.load(std::memory_order_acquire);
    if (stopping_.load()) return;
    take_chunks(worker);
  }
}

}  // namespace gainz
