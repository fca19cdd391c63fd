// Counts operator new in this program: after create, drawing tokens allocates nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <random>

#include "sampler/sampler.h"
#include "sampler/stop_matcher.h"

namespace {
std::atomic<size_t> num_allocations{0};
}

// Not inlined: the compiler would see malloc's pointers given to delete, and warn.
[[gnu::noinline]] void* operator new(size_t size) {
  ++num_allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++num_allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void* operator new[](size_t size) { return operator new(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace gainz {
namespace {

constexpr int32_t kVocab = 3000;

std::vector<SamplingParams> many_params() {
  std::vector<SamplingParams> all(9);
  all[1].temperature = 0;
  all[2].top_k = 40;
  all[3].top_p = 0.95f;
  all[4].min_p = 0.01f;
  all[5].typical_p = 0.9f;
  all[6].top_k = 1000;
  all[6].top_p = 0.9f;
  all[6].typical_p = 0.9f;
  all[7].repetition_penalty = 1.2f;
  all[7].presence_penalty = 0.5f;
  all[7].logit_bias = {{5, 2.0f}};
  all[7].min_tokens = 10;
  all[7].logprobs = 20;
  all[8].top_k = 2990;
  all[8].logprobs = 0;
  all[8].ignore_eos = true;
  return all;
}

TEST(SamplerMemory, SteadyStateAllocatesNothing) {
  const size_t before_all = num_allocations;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const std::vector<uint32_t> allowed((kVocab + 31) / 32, 0xfffffffe);
  std::vector<float> row(kVocab);
  for (const SamplingParams& params : many_params()) {
    auto sampler = Sampler::create(params, kVocab, {2});
    ASSERT_TRUE(sampler.ok());
    sampler->reserve_output(3000);
    SampledToken token;
    size_t before = 0;
    for (uint64_t position = 0; position < 60; ++position) {
      for (float& x : row) x = (position % 7 == 0 ? 0.01f : 4.0f) * normal(random);
      if (position == 1) before = num_allocations;  // the first draw may size the token's alternatives
      for (int again = 0; again < 30; ++again) {
        const auto mask = again % 2 == 0 ? std::span<const uint32_t>() : std::span<const uint32_t>(allowed);
        ASSERT_TRUE(sampler->sample_into(row, position, mask, token).ok());
        sampler->observe_output(token.id);
        if (again == 15) sampler->truncate(sampler->num_output() - 3);
      }
    }
    EXPECT_EQ(num_allocations, before);
  }
  EXPECT_GT(num_allocations, before_all) << "operator new is not counted";
}

TEST(StopMatcherMemory, SteadyStateAllocatesNothing) {
  StopMatcher matcher({"</tool_call>", "<|end|>", "\n\n"});
  std::string emitted;
  emitted.reserve(100);
  const size_t before = num_allocations;
  for (int i = 0; i < 1000; ++i) {
    emitted.clear();
    ASSERT_FALSE(matcher.push("some <|en text\n</tool_", emitted));
  }
  EXPECT_EQ(num_allocations, before);
}

}  // namespace
}  // namespace gainz
