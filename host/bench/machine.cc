#include "bench/machine.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "base/text.h"

namespace gainz::host {
namespace {

constexpr int kMinPasses = 5;
constexpr double kMinSeconds = 0.4;
constexpr uint64_t kReadGrain = 4096;
constexpr uint64_t kMinReadBytes = 1 << 20;  // below, starting the threads would be measured

double read_rate(uint64_t buffer_bytes, uint32_t num_threads, IsaLevel most) {
  const uint64_t wanted = std::max(buffer_bytes, kMinReadBytes * num_threads);
  const uint64_t share = (wanted / num_threads + kReadGrain - 1) / kReadGrain * kReadGrain;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<void, Free>> parts(num_threads);
  for (auto& part : parts) part.reset(std::aligned_alloc(kReadGrain, share));
  for (const auto& part : parts) {
    if (part == nullptr) return 0;
  }
  std::vector<uint64_t> sums(num_threads * 8);  // a cache line each
  bool first = true;
  const double seconds = best_seconds(num_threads, [&](uint32_t thread) {
    if (first) std::memset(parts[thread].get(), static_cast<int>(thread + 1), share);  // pages near the thread that reads them
    sums[thread * 8] += read_all(parts[thread].get(), share, most);
    if (thread == 0) first = false;
  });
  return static_cast<double>(share) * num_threads / seconds / 1e9;
}

double peak_rate(const PeakKernel& kernel, uint32_t num_threads) {
  constexpr double kPassSeconds = 0.02;
  uint64_t rounds = 1000;
  for (;;) {
    const auto start = std::chrono::steady_clock::now();
    kernel.run(rounds);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took.count() >= kPassSeconds || rounds > (uint64_t{1} << 40)) break;
    rounds *= 2;
  }
  const double seconds = best_seconds(num_threads, [&](uint32_t) { kernel.run(rounds); });
  return static_cast<double>(kernel.ops_per_round) * static_cast<double>(rounds) * num_threads / seconds / 1e9;
}

}  // namespace

double best_seconds(uint32_t num_threads, const std::function<void(uint32_t thread)>& body) {
  using Clock = std::chrono::steady_clock;
  std::barrier meet(static_cast<ptrdiff_t>(num_threads));
  double best = 1e30, total = 0;
  bool more = true;
  const auto work = [&](uint32_t thread) {
    for (int pass = 0;; ++pass) {
      meet.arrive_and_wait();
      if (!more) return;
      const auto start = Clock::now();
      body(thread);
      meet.arrive_and_wait();
      if (thread != 0) continue;
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (pass > 0) best = std::min(best, seconds);  // the first one warms up
      total += seconds;
      more = pass < kMinPasses || total < kMinSeconds;
    }
  };
  std::vector<std::jthread> threads;
  for (uint32_t i = 1; i < num_threads; ++i) threads.emplace_back(work, i);
  work(0);
  return best;
}

IsaLevel isa_level(std::string_view cpu_isa) {
  constexpr std::string_view kNames[] = {"scalar", "avx2", "avx_vnni", "avx512_vnni", "amx"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (cpu_isa == kNames[i]) return static_cast<IsaLevel>(i);
  }
  return IsaLevel::amx;
}

MachineLimits measure_limits(uint64_t buffer_bytes, uint32_t num_threads, bool f32, IsaLevel most) {
  const uint32_t threads = std::max(1u, num_threads);
  const PeakKernel* kernel = f32 ? peak_f32_kernel(most) : nullptr;
  if (!f32 && most == IsaLevel::amx) kernel = peak_amx_kernel();
  if (kernel == nullptr) kernel = peak_int8_kernel(most);
  return {read_rate(buffer_bytes, threads, most), peak_rate(*kernel, threads),
          fmt::format("{} {}", f32 ? "f32" : "int8", kernel->name)};
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return printable(line.substr(colon + 2));
  }
  return "";
}

uint32_t num_usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1u, static_cast<uint32_t>(CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

uint64_t peak_memory_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}

}  // namespace gainz::host
