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
  uint64_t num_chunks = count / grain + (count % grain != 0 ? 1 : 0);
  if (num_chunks == 1 || num_threads_ == 1 || in_use_.test_and_set(std::memory_order_acquire)) {
    body(arg, 0, count, 0);
    return;
  }
  uint64_t chunk_size = grain;
  if (num_chunks / num_threads_ >= kMaxIndex) {
    chunk_size *= num_chunks / num_threads_ / kMaxIndex + 1;
    num_chunks = count / chunk_size + (count % chunk_size != 0 ? 1 : 0);
  }
  // First all runs are emptied: a worker that comes late to the last job and sees a field of this one finds its claim gone.
  job_ = (job_ + 1) << 2 * kIndexBits >> 2 * kIndexBits;
  for (uint32_t w = 0; w < num_threads_; ++w) runs_[w].word.store(job_ << 2 * kIndexBits, std::memory_order_relaxed);
  body_.store(body, std::memory_order_release);
  arg_.store(arg, std::memory_order_release);
  count_.store(count, std::memory_order_release);
  grain_.store(grain, std::memory_order_release);
  chunk_size_.store(chunk_size, std::memory_order_release);
  num_chunks_.store(num_chunks, std::memory_order_release);
  completed_.store(0, std::memory_order_relaxed);
  open_runs(num_chunks);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  take_chunks(0);
  const auto all_done = [&] { return completed_.load(std::memory_order_acquire) == num_chunks; };
  while (!spin_until(all_done)) std::this_thread::yield();
  in_use_.clear(std::memory_order_release);
}

void ThreadPool::open_runs(uint64_t num_chunks) {
  for (uint32_t w = 0; w < num_threads_; ++w)
    runs_[w].word.store(job_ << 2 * kIndexBits | (first_chunk(num_chunks, w + 1) - first_chunk(num_chunks, w)),
                        std::memory_order_release);
}

// Takes chunks of the current job until none is left: its own from the front, then the others' from the back.
void ThreadPool::take_chunks(uint32_t worker) {
  uint64_t num_done = 0;
  for (uint32_t i = 0; i < num_threads_; ++i) {
    const uint32_t owner = (worker + i) % num_threads_;
    std::atomic<uint64_t>& run = runs_[owner].word;
    for (;;) {
      uint64_t word = run.load(std::memory_order_acquire);
      const Body body = body_.load(std::memory_order_acquire);
      void* const arg = arg_.load(std::memory_order_acquire);
      const uint64_t count = count_.load(std::memory_order_acquire);
      const uint64_t grain = grain_.load(std::memory_order_acquire);
      const uint64_t chunk_size = chunk_size_.load(std::memory_order_acquire);
      const uint64_t num_chunks = num_chunks_.load(std::memory_order_acquire);
      const uint64_t first = word >> kIndexBits & kMaxIndex, end = word & kMaxIndex;
      if (first == end) break;
      const uint64_t left = i == 0 ? word + (uint64_t{1} << kIndexBits) : word - 1;
      // Success proves that the fields read above belong to this job: before one changes, all runs do.
      if (!run.compare_exchange_weak(word, left, std::memory_order_acq_rel, std::memory_order_relaxed)) continue;
      uint64_t begin = (first_chunk(num_chunks, owner) + (i == 0 ? first : end - 1)) * chunk_size;
      const uint64_t chunk_end = begin + std::min(chunk_size, count - begin);
      for (; begin != chunk_end; begin += std::min(grain, chunk_end - begin))
        body(arg, begin, begin + std::min(grain, chunk_end - begin), worker);
      ++num_done;
    }
  }
  // Until this is told the job is not over, so all that was done belongs to it.
  if (num_done != 0) completed_.fetch_add(num_done, std::memory_order_release);
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
