// Time grows linearly with the text (case pb03): doubling costs at most 2.5 times, and hostile texts of 256k letters take less
// than two seconds. Measured with the processor's time of this process, best of two.
#include <gtest/gtest.h>

#include <ctime>

#include "runtime/tokenizer/vectors.h"
#include "tokenizer/pre_tokenizer.h"

namespace gainz::test {
namespace {

constexpr size_t kLetters = 262144;
constexpr double kMaxGrowth = 2.5, kMaxSeconds = 2.0;
constexpr double kClockNoise = 0.03;  // seconds; what is quicker than this is not compared
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlowdown = 20.0;
constexpr size_t kHugeBytes = 2'000'000;
#else
constexpr double kSlowdown = 1.0;
constexpr size_t kHugeBytes = 20'000'000;
#endif

double seconds_of(const Tokenizer& tokenizer, const std::string& text, bool parse_special, int num_runs = 2) {
  double best = 1e9;
  for (int i = 0; i < num_runs; ++i) {
    const clock_t begin = clock();
    EXPECT_TRUE(tokenizer.encode(text, parse_special, false).ok());
    best = std::min(best, static_cast<double>(clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

std::string repeated(const std::string& unit, size_t num_bytes) {
  std::string out;
  while (out.size() < num_bytes) out += unit;
  return out;
}

class Time : public ::testing::TestWithParam<const char*> {};

TEST_P(Time, Pb03GrowsLinearly) {
  const auto tokenizer = open_tokenizer(data_path(std::string(GetParam()) + ".gguf"));
  ASSERT_TRUE(tokenizer);
  for (const std::string unit :
       {"a", " ", "1", "\xCC\x81\xCC\xA3", "ab ", "\xE0\xB8\x81", ".", " \n", "<|im_start|>user hi<|im_end|>\n"}) {
    const double half = seconds_of(*tokenizer, "x" + repeated(unit, kLetters / 2) + "y", true);
    const double whole = seconds_of(*tokenizer, "x" + repeated(unit, kLetters) + "y", true);
    EXPECT_LT(whole, kMaxSeconds * kSlowdown) << ::testing::PrintToString(unit);
    EXPECT_LT(whole, kMaxGrowth * std::max(half, kClockNoise)) << ::testing::PrintToString(unit);
  }
  // Marks in an order that has to be turned round.
  const std::string marks = "a" + repeated("\xCC\x81", kLetters / 2) + repeated("\xCC\xA3", kLetters / 2);
  EXPECT_LT(seconds_of(*tokenizer, marks, false), kMaxSeconds * kSlowdown);
}

INSTANTIATE_TEST_SUITE_P(All, Time,
                         ::testing::Values("gpt-2", "qwen2", "gpt-4o", "deepseek-llm", "spm-bytes", "unigram-nmt",
                                           "bert-phantom"),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// Regular expressions take a run of blanks at one go, however long.
TEST(TimeOfHugeTexts, TwentyMegabytesAreCutIntoWords) {
  for (const char* name : {"gpt-2", "llama-bpe", "gpt-4o", "deepseek-llm", "deepseek-v3"}) {
    const auto pre_tokenizer = PreTokenizer::create(*find_pre_tokenizer(name));
    ASSERT_TRUE(pre_tokenizer.ok());
    std::vector<std::string_view> words;
    for (const char c : {' ', 'A', '.'}) {
      const std::string text = std::string(kHugeBytes, c) + "x\n";
      const Status status = pre_tokenizer->split(text, words);
      EXPECT_TRUE(status.ok()) << name << ": " << status.message();
      EXPECT_LE(words.size(), 4u);
    }
  }
}

TEST(TimeOfHugeTexts, TwentyMegabytesOfWords) {
  const auto tokenizer = open_tokenizer(data_path("llama-bpe.gguf"));
  ASSERT_TRUE(tokenizer);
  EXPECT_LT(seconds_of(*tokenizer, repeated("The quick brown fox isn\'t here, 2026.\n", kHugeBytes), false, 1), 30 * kSlowdown);
}

}  // namespace
}  // namespace gainz::test
