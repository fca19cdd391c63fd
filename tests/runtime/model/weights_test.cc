#include "model/weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "runtime/model/model_files.h"

namespace gainz {
namespace {

using namespace gainz::test;

struct WeightsTest : ::testing::TestWithParam<bool> {
  WeightsTest() {
    FileShape shape;
    shape.vocab = 4096;  // many pages
    const std::string path = write_temporary(model_file("llama", shape), "weights.gguf");
    auto opened = Gguf::open(path, {.use_mmap = GetParam()});
    EXPECT_TRUE(opened.ok());
    file = *opened;
    std::remove(path.c_str());
  }
  std::shared_ptr<const Gguf> file;
};

TEST_P(WeightsTest, MapAfterReleaseGivesTheSameBytes) {
  const GgufTensor* embedding = file->find_tensor("token_embd.weight");
  const std::vector<std::byte> want(embedding->data.begin(), embedding->data.end());
  const std::function<bool(const char*, double)> none;
  PackingProgress progress(none, 0);
  const Weights weights({nullptr, embedding}, GetParam(), progress);
  EXPECT_EQ(weights.total_bytes(), embedding->data.size());
  const gainz_weights& table = *weights.table();
  for (int i = 0; i < 2; ++i) {
    const void* bytes = nullptr;
    uint64_t num_bytes = 0;
    ASSERT_EQ(table.map(table.ctx, 1, &bytes, &num_bytes, nullptr), GAINZ_STATUS_OK);
    ASSERT_EQ(num_bytes, want.size());
    EXPECT_EQ(std::memcmp(bytes, want.data(), want.size()), 0);
    table.release(table.ctx, 1);
  }
  table.release(table.ctx, 0);  // no weight: nothing happens
  table.release(table.ctx, 99);
}

INSTANTIATE_TEST_SUITE_P(MappedOrRead, WeightsTest, ::testing::Bool());

TEST(Weights, UnknownValueIsInvalid) {
  const std::function<bool(const char*, double)> none;
  PackingProgress progress(none, 0);
  const Weights weights({nullptr}, false, progress);
  const gainz_weights& table = *weights.table();
  const void* bytes = nullptr;
  uint64_t num_bytes = 0;
  char text[64] = "";
  gainz_error error{sizeof(error), sizeof(text), text};
  EXPECT_EQ(table.map(table.ctx, 0, &bytes, &num_bytes, &error), GAINZ_STATUS_INVALID);
  EXPECT_STREQ(text, "value 0 is no weight");
  EXPECT_EQ(table.map(table.ctx, 7, &bytes, &num_bytes, nullptr), GAINZ_STATUS_INVALID);
}

TEST(Weights, ProgressGoesOverAllParts) {
  std::vector<double> seen;
  const std::function<bool(const char*, double)> keep = [&](const char*, double fraction) {
    seen.push_back(fraction);
    return fraction < 0.9;
  };
  PackingProgress progress(keep, 200);
  const Weights weights({}, false, progress);
  const gainz_weights& table = *weights.table();
  EXPECT_EQ(table.progress(table.ctx, 50, 100), 0);
  progress.part_done(100);
  EXPECT_EQ(table.progress(table.ctx, 50, 100), 0);
  EXPECT_EQ(table.progress(table.ctx, UINT64_MAX, 100), 1);  // a plugin that counts wrongly; and the callback stops
  EXPECT_EQ(table.progress(table.ctx, 0, 100), 1);           // for good
  EXPECT_TRUE(progress.is_stopped());
  EXPECT_EQ(seen, (std::vector<double>{0.25, 0.75, 1.0}));
}

TEST(Weights, ThrowingCallbackStops) {
  const std::function<bool(const char*, double)> throws = [](const char*, double) -> bool { throw std::runtime_error("no"); };
  PackingProgress progress(throws, 1);
  const Weights weights({}, false, progress);
  EXPECT_EQ(weights.table()->progress(weights.table()->ctx, 1, 1), 1);
}

}  // namespace
}  // namespace gainz
