// ThreadPool: the workers behind parallel_for.
//
// A call hands out its chunks through one atomic word; the caller works too and waits only for chunks that were claimed, never
// for a worker that did not come, so a core taken by somebody else costs no more than its own share. Workers spin for kSpinUs
// after work, then sleep: an idle pool uses no processor.
//
// Owner: the runtime. Threads: parallel_for from any thread; while one call is running, a second one from another thread does
// its work alone. Starting threads may fail with Status; nothing else does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/status.h"

namespace gainz {

class ThreadPool {
 public:
  using Body = void (*)(void* arg, uint64_t begin, uint64_t end, uint32_t worker);

  // num_threads counts the caller: 1 makes no thread.
  static Result<std::unique_ptr<ThreadPool>> create(uint32_t num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t num_threads() const { return num_threads_; }
  // Calls body over [0, count) in runs of `grain` (the last may be shorter); returns when all are done. `worker` < num_threads.
  void parallel_for(uint64_t count, uint64_t grain, Body body, void* arg);

 private:
  explicit ThreadPool(uint32_t num_threads) : num_threads_(num_threads) {}
  void work(uint32_t worker);
  bool take_chunks(uint32_t worker);
  void stop();

  static constexpr int kIndexBits = 40;  // of claim_: the low bits count chunks, the high ones name the job
  static constexpr uint64_t kClosed = (uint64_t{1} << kIndexBits) - 1;  // as a count: no chunk may be taken

  const uint32_t num_threads_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_{false};
  std::atomic_flag in_use_ = ATOMIC_FLAG_INIT;
  alignas(64) std::atomic<uint64_t> claim_{0};
  alignas(64) std::atomic<uint64_t> completed_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  // The job: written while claim_ is closed, so that a claim made from a mixture of two jobs fails.
  std::atomic<Body> body_{nullptr};
  std::atomic<void*> arg_{nullptr};
  std::atomic<uint64_t> count_{0}, grain_{1}, num_chunks_{0};
};

}  // namespace gainz
