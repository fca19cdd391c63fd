#include "bench/machine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace gainz::host {
namespace {

constexpr IsaLevel kLevels[] = {IsaLevel::scalar, IsaLevel::avx2, IsaLevel::avx_vnni, IsaLevel::avx512_vnni, IsaLevel::amx};

TEST(HostMachine, TheSettingOnlyLowers) {
  EXPECT_EQ(isa_level("scalar"), IsaLevel::scalar);
  EXPECT_EQ(isa_level("auto"), IsaLevel::amx);
  for (const IsaLevel most : kLevels) {
    EXPECT_LE(peak_int8_kernel(most)->level, most);
    EXPECT_LE(peak_f32_kernel(most)->level, most);
  }
  EXPECT_STREQ(peak_int8_kernel(IsaLevel::scalar)->name, "scalar");
}

TEST(HostMachine, EveryKernelOfThisMachineRuns) {
  for (const IsaLevel most : kLevels) {
    peak_int8_kernel(most)->run(10);
    peak_f32_kernel(most)->run(10);
  }
  if (peak_amx_kernel() == nullptr) GTEST_SKIP() << "this machine has no AMX, its kernel is not run";
  peak_amx_kernel()->run(10);
}

TEST(HostMachine, EveryByteIsRead) {
  constexpr uint64_t kBytes = 8192;
  std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(4096, kBytes), std::free);
  auto* words = static_cast<uint64_t*>(memory.get());
  uint64_t sum = 0;
  for (uint64_t i = 0; i < kBytes / 8; ++i) sum += words[i] = i * 0x9E3779B97F4A7C15u;
  for (const IsaLevel most : kLevels) EXPECT_EQ(read_all(words, kBytes, most), sum);
}

TEST(HostMachine, LimitsArePositive) {
  const MachineLimits limits = measure_limits(1 << 20, 2, false, IsaLevel::amx);
  EXPECT_GT(limits.read_gb_per_second, 0.01);
  EXPECT_GT(limits.peak_gops, 0.01);
  EXPECT_EQ(limits.peak_kind.substr(0, 5), "int8 ");
  EXPECT_EQ(measure_limits(1 << 20, 1, true, IsaLevel::scalar).peak_kind, "f32 scalar");
}

TEST(HostMachine, FactsOfTheProcess) {
  EXPECT_GE(num_usable_cores(), 1u);
  EXPECT_GT(peak_memory_bytes(), uint64_t{1} << 20);
}

}  // namespace
}  // namespace gainz::host
