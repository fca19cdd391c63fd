// Whole models on the software device beside the reference: every architecture, and the real models where they are installed.
//
// The stated tolerance: a relative error over the logits of a row, of kTolerance for small models with F32 pages. A single
// logit is off by a few times that share of the row's root mean square; where the reference's first choice leads its second by
// more than kLead of them, both choose the same token.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "runtime/model/model_files.h"
#include "support/run_model.h"
#include "support/sanitized.h"
#include "support/tiny_model.h"
#include "vulkan_test.h"

namespace gainz {
namespace {

using namespace gainz::test;

constexpr double kTolerance = 5e-5;

constexpr double kLead = 16;
constexpr double kF16Pages = 2e-3;  // a key beside a rounding step of f16 falls on its other side

struct Verdict {
  double worst = 0;
  size_t num_rows = 0, num_clear = 0, num_equal = 0;
};

Verdict judge(const std::vector<float>& got, const std::vector<float>& want, size_t vocab, double tolerance) {
  Verdict v;
  for (size_t at = 0; at + vocab <= want.size(); at += vocab, ++v.num_rows) {
    v.worst = std::max(v.worst, relative_l2(&got[at], &want[at], vocab));
    size_t first = 0, second = 1, chosen = 0;
    double norm = 0;
    for (size_t i = 0; i < vocab; ++i) {
      norm += double{want[at + i]} * want[at + i];
      if (got[at + i] > got[at + chosen]) chosen = i;
      if (want[at + i] > want[at + first]) {
        second = first;
        first = i;
      } else if (i != first && (second == first || want[at + i] > want[at + second])) {
        second = i;
      }
    }
    if (want[at + first] - want[at + second] <= kLead * tolerance * std::sqrt(norm / static_cast<double>(vocab))) continue;
    ++v.num_clear;
    v.num_equal += chosen == first ? 1 : 0;
  }
  return v;
}

class VulkanModels : public VulkanTest {
 protected:
  Verdict compare(const std::string& path, const std::vector<int32_t>& ids, uint32_t kv_type, double tolerance) {
    ModelHost host(2);
    RunOptions options;
    options.kv_type = kv_type;
    options.max_tokens = 64;
    options.max_pages = 8;
    std::vector<float> logits[2];
    size_t vocab = 0;
    for (const int i : {0, 1}) {
      auto model = load_model(host, path, i == 0 ? "reference" : "vulkan");
      EXPECT_TRUE(model.ok()) << model.status().message();
      if (!model.ok()) return {1e9};
      EXPECT_TRUE(prepare_model(**model, options).ok());
      auto rows = run_model(**model, ids, options);
      EXPECT_TRUE(rows.ok()) << rows.status().message();
      if (!rows.ok()) return {1e9};
      logits[i] = std::move(*rows);
      vocab = (*model)->info().vocab_size;
    }
    return judge(logits[1], logits[0], vocab, tolerance);
  }
};

TEST_F(VulkanModels, EveryArchitectureAnswersAsTheReference) {
  for (const char* architecture : {"llama", "qwen2", "qwen3", "gemma3", "qwen3moe"}) {
    FileShape shape;
    if (std::string(architecture) == "qwen3moe") shape.num_experts = 6, shape.num_used = 2, shape.expert_feed_forward = 32;
    const std::string path = write_temporary(model_file(architecture, shape), std::string("vulkan-") + architecture + ".gguf");
    const Verdict v = compare(path, random_tokens(40, shape.vocab, 3), GAINZ_TYPE_F32, kTolerance);
    EXPECT_LT(v.worst, kTolerance) << architecture;
    EXPECT_EQ(v.num_equal, v.num_clear) << architecture;
    EXPECT_GT(v.num_clear, v.num_rows / 2) << architecture;
  }
}

TEST_F(VulkanModels, TheTinyModelOfEveryTypeAnswersAsTheReference) {
  for (const char* type : {"Q8_0", "Q4_1", "Q5_0", "Q6_K"}) {
    const std::string path = temporary_path(std::string("vulkan-tiny-") + type + ".gguf");
    ASSERT_TRUE(write_tiny_model(path, {.type = type}));
    const Verdict v = compare(path, random_tokens(50, kTinyVocab, 3), GAINZ_TYPE_F16, kF16Pages);
    EXPECT_LT(v.worst, kF16Pages) << type;
    EXPECT_EQ(v.num_equal, v.num_clear) << type;
  }
}

TEST_F(VulkanModels, RealModelsChooseAsTheReference) {
  if (kSanitized) GTEST_SKIP() << "real models take minutes under a sanitizer";
  const char* folder = std::getenv("GAINZ_MODELS");
  const char* home = std::getenv("HOME");
  const std::string models = folder != nullptr ? folder : std::string(home != nullptr ? home : "") + "/.cache/gainz/models";
  bool any = false;
  for (const char* file : {"SmolLM2-135M-Instruct.Q4_1.gguf", "gemma-3-270m-q4_k_m.gguf"}) {
    const std::string path = models + "/" + file;
    if (!std::ifstream(path)) continue;
    any = true;
    const std::vector<int32_t> ids = random_tokens(24, 20000, 11);  // teacher-forced: any ids do
    const Verdict v = compare(path, ids, GAINZ_TYPE_F32, kTolerance);
    EXPECT_LT(v.worst, kTolerance) << file;
    EXPECT_EQ(v.num_equal, v.num_clear) << file;
    EXPECT_GT(v.num_clear, 0u) << file;
    std::printf("[ NOTE ] %s: relative error %.1e, %zu of %zu rows with a clear first choice, all equal\n", file, v.worst,
                v.num_clear, v.num_rows);
  }
  if (!any) GTEST_SKIP() << "no real model in " << models;
}

}  // namespace
}  // namespace gainz
