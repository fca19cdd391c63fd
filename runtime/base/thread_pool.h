// ThreadPool: the workers behind parallel_for.
//
// Each worker has its own run of consecutive chunks and takes them in order, so that it reads weights as one stream; then it
// takes from the ends of the others' runs. The caller works too and waits only for chunks that were claimed, never for a worker
// that did not come, so a core taken by somebody else costs no more than its own share. Workers spin for kSpin after work, then
// sleep: an idle pool uses no processor.
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
  struct alignas(64) Run {
    std::atomic<uint64_t> word{0};  // job, first chunk, end of the chunks that nobody has taken
  };

  explicit ThreadPool(uint32_t num_threads) : num_threads_(num_threads), runs_(new Run[num_threads]) {}
  void work(uint32_t worker);
  // Where worker's run begins.
  uint64_t first_chunk(uint64_t num_chunks, uint64_t worker) const {
    return num_chunks / num_threads_ * worker + num_chunks % num_threads_ * worker / num_threads_;
  }
  void open_runs(uint64_t num_chunks);
  void take_chunks(uint32_t worker);
  void stop();

  static constexpr int kIndexBits = 20;
  static constexpr uint64_t kMaxIndex = (uint64_t{1} << kIndexBits) - 1;  // a run's chunks are counted from its own first

  const uint32_t num_threads_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_{false};
  std::atomic_flag in_use_ = ATOMIC_FLAG_INIT;
  uint64_t job_ = 0;                   // of the caller that has in_use_
  const std::unique_ptr<Run[]> runs_;  // [num_threads]
  alignas(64) std::atomic<uint64_t> completed_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  // The job: written while all runs are empty, so that a claim made from a mixture of two jobs fails.
  std::atomic<Body> body_{nullptr};
  std::atomic<void*> arg_{nullptr};
  std::atomic<uint64_t> count_{0}, grain_{1}, num_chunks_{0};
  std::atomic<uint64_t> chunk_size_{1};  // grain, or a multiple of it where there are more of these than a run can count
};

}  // namespace gainz
