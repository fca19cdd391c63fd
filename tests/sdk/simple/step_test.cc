// A bad step is INVALID with a sentence and changes nothing; slices run in order.
#include <gtest/gtest.h>

#include <functional>

#include "gainz/sdk/reference_backend.h"
#include "support/plugin_harness.h"

namespace gainz::test {
namespace {

class Steps : public ::testing::Test {
 protected:
  TestHost host_;
  Plugin plugin_{host_, gainz_reference_query};
  Device device_{plugin_};
  GraphBuilder graph_;
  ErrorText error_;
  std::unique_ptr<Runner> runner_;
  Conversation a_, b_;
  std::vector<std::vector<float>> answer_;

  void SetUp() override {
    build_toy(&graph_);
    runner_ = std::make_unique<Runner>(device_, &graph_);
    a_ = runner_->begin();
    b_ = runner_->begin();
    answer_ = runner_->step({{&a_, random_tokens(18, 96, 1)}, {&b_, random_tokens(3, 96, 2), true}});
  }
  gainz_status run(uint32_t first = 0, uint32_t num = 0, uint64_t* out_ticket = nullptr) {
    uint64_t ticket = 0;
    const gainz_status status = device_->run(device_.get(), runner_->program(), runner_->last_step(), first,
                                             num == 0 ? runner_->num_slices() - first : num, &ticket, error_.get());
    if (out_ticket != nullptr) *out_ticket = ticket;
    return status;
  }
};

TEST_F(Steps, EachBadOneIsInvalidAndTheNextGoodOneWorks) {
  Runner& r = *runner_;
  gainz_step& step = *r.last_step();
  const gainz_step good = step;
  const std::pair<const char*, std::function<void()>> breaks[] = {
      {"no tokens", [&] { step.num_tokens = 0; }},
      {"too many tokens", [&] { step.num_tokens = 129; }},
      {"too many sequences", [&] { step.num_sequences = 17; }},
      {"too many rows", [&] { step.num_output_rows = 129; }},
      {"tokens NULL", [&] { step.tokens = nullptr; }},
      {"positions NULL", [&] { step.positions = nullptr; }},
      {"offsets NULL", [&] { step.query_offsets = nullptr; }},
      {"contexts NULL", [&] { step.context_lengths = nullptr; }},
      {"rows NULL", [&] { step.output_rows = nullptr; }},
      {"pages NULL", [&] { step.pages = nullptr; }},
      {"outputs NULL", [&] { step.outputs = nullptr; }},
      {"token below", [&] { r.tokens[3] = -1; }},
      {"token beyond", [&] { r.tokens[3] = 96; }},
      {"position", [&] { r.positions[2] = 7; }},
      {"phase", [&] { r.phases[0] = 2; }},
      {"first offset", [&] { r.offsets[0] = 1; }},
      {"last offset", [&] { r.offsets[2] = 20; }},
      {"falling offsets", [&] { r.offsets[1] = 22; }},
      {"empty sequence", [&] { r.offsets[1] = 0; }},
      {"context below the query", [&] { r.contexts[0] = 17; }},
      {"context beyond the pages", [&] { r.contexts[0] = 257; }},
      {"row beyond", [&] { r.rows[0] = 21; }},
      {"rows that do not rise", [&] { r.rows[1] = r.rows[0]; }},
      {"slot beyond", [&] { r.slots[0][20] = 64 * 16; }},
      {"slots NULL", [&] { r.pages[0].slots = nullptr; }},
      {"page beyond", [&] { r.tables[0][1] = 64; }},
      {"table NULL", [&] { r.pages[0].page_table = nullptr; }},
      {"narrow table", [&] { r.pages[0].page_table_stride = 1; }},
      {"pages stride", [&] { step.pages_stride = 2; }},
      {"output stride", [&] { r.output_buffers[0].row_stride_bytes = 8; }},
      {"output alignment", [&] { r.output_buffers[0].row_stride_bytes += 2; }},
      {"struct_size", [&] { step.struct_size = 1; }},
  };
  for (const auto& [name, breaks_it] : breaks) {
    const Runner::Arrays saved = r.arrays();
    breaks_it();
    EXPECT_EQ(run(), GAINZ_STATUS_INVALID) << name;
    EXPECT_NE(error_.text(), "") << name;
    step = good;
    r.restore(saved);
    ASSERT_EQ(run(), GAINZ_STATUS_OK) << "after " << name << ": " << error_.text();
  }
}

TEST_F(Steps, SlicesRunOnceAndInOrder) {
  ASSERT_GE(runner_->num_slices(), 4u);  // before the layers, two layers, behind them
  EXPECT_EQ(run(1, 1), GAINZ_STATUS_INVALID);
  ASSERT_EQ(run(0, 1), GAINZ_STATUS_OK);
  EXPECT_EQ(run(2, 1), GAINZ_STATUS_INVALID);
  ASSERT_EQ(run(1, 2), GAINZ_STATUS_OK);
  EXPECT_EQ(run(1, 1), GAINZ_STATUS_INVALID);
  ASSERT_EQ(run(0, 2), GAINZ_STATUS_OK);  // a step that is not finished may be dropped
  ASSERT_EQ(run(2), GAINZ_STATUS_OK) << error_.text();
  EXPECT_EQ(run(runner_->num_slices() - 1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(run(0, runner_->num_slices() + 1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(run(0, UINT32_MAX), GAINZ_STATUS_INVALID);
  ASSERT_EQ(run(0, 1), GAINZ_STATUS_OK);
  runner_->last_step()->num_output_rows -= 1;  // another step than the one under way
  EXPECT_EQ(run(1, 1), GAINZ_STATUS_INVALID);
}

TEST_F(Steps, TicketsRiseAndUnknownOnesAreInvalid) {
  uint64_t first = 0, second = 0;
  ASSERT_EQ(run(0, 1, &first), GAINZ_STATUS_OK);
  ASSERT_EQ(run(1, 1, &second), GAINZ_STATUS_OK);
  EXPECT_GT(second, first);
  uint32_t done = 0;
  EXPECT_EQ(device_->poll(device_.get(), second, &done, nullptr), GAINZ_STATUS_OK);
  EXPECT_EQ(done, 1u);
  EXPECT_EQ(device_->wait(device_.get(), second, 0, nullptr), GAINZ_STATUS_OK);
  EXPECT_EQ(device_->wait(device_.get(), second + 1, 0, nullptr), GAINZ_STATUS_INVALID);
  EXPECT_EQ(device_->poll(device_.get(), 0, &done, nullptr), GAINZ_STATUS_INVALID);
}

TEST_F(Steps, AStepWithoutOutputRowsIsWhole) {
  runner_->last_step()->num_output_rows = 0;
  EXPECT_EQ(run(), GAINZ_STATUS_OK) << error_.text();
}

TEST_F(Steps, PageFunctionsCheckTheirNumbers) {
  gainz_kv* kv = runner_->kv();
  auto copy = [&](std::vector<gainz_page_copy> copies, uint32_t group = 0) {
    return device_->kv_copy_pages(device_.get(), kv, group, copies.data(), static_cast<uint32_t>(copies.size()), error_.get());
  };
  EXPECT_EQ(copy({{1, 2}, {1, 3}}), GAINZ_STATUS_OK);
  EXPECT_EQ(copy({}), GAINZ_STATUS_OK);
  EXPECT_EQ(copy({{1, 2}, {2, 3}}), GAINZ_STATUS_INVALID);
  EXPECT_EQ(copy({{2, 3}, {1, 2}}), GAINZ_STATUS_INVALID);
  EXPECT_EQ(copy({{1, 3}, {2, 3}}), GAINZ_STATUS_INVALID);
  EXPECT_EQ(copy({{1, 1}}), GAINZ_STATUS_INVALID);
  EXPECT_EQ(copy({{1, 64}}), GAINZ_STATUS_INVALID);
  EXPECT_EQ(copy({{64, 1}}), GAINZ_STATUS_INVALID);
  EXPECT_EQ(copy({{1, 2}}, 1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(copy({{1, 2}, {1, 3}}), GAINZ_STATUS_OK);  // the marks were cleared
  std::vector<uint8_t> bytes(runner_->page_bytes(0));
  auto take = [&](uint32_t group, uint32_t page, uint64_t size) {
    return device_->kv_export_page(device_.get(), kv, group, page, bytes.data(), size, error_.get());
  };
  EXPECT_EQ(take(0, 1, bytes.size()), GAINZ_STATUS_OK);
  EXPECT_EQ(take(0, 1, bytes.size() - 1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(take(0, 64, bytes.size()), GAINZ_STATUS_INVALID);
  EXPECT_EQ(take(1, 1, bytes.size()), GAINZ_STATUS_INVALID);
  EXPECT_EQ(device_->kv_import_page(device_.get(), kv, 0, 1, nullptr, bytes.size(), error_.get()), GAINZ_STATUS_INVALID);
}

TEST_F(Steps, KvTypesAndBucketsAreChecked) {
  auto create = [&](uint32_t k_type, uint32_t num_groups, uint32_t num_pages) {
    const gainz_kv_desc desc{sizeof desc, k_type, GAINZ_TYPE_F32, num_groups, &num_pages};
    gainz_kv* kv = nullptr;
    return device_->kv_create(device_.get(), runner_->model(), &desc, &kv, error_.get());
  };
  EXPECT_EQ(create(GAINZ_TYPE_Q4_0, 1, 4), GAINZ_STATUS_UNSUPPORTED);
  EXPECT_EQ(create(GAINZ_TYPE_F32, 2, 4), GAINZ_STATUS_INVALID);
  EXPECT_EQ(create(GAINZ_TYPE_F32, 1, 0), GAINZ_STATUS_INVALID);
  EXPECT_EQ(create(GAINZ_TYPE_F32, 1, 200000000), GAINZ_STATUS_OUT_OF_HOST_MEMORY);
  auto program = [&](gainz_bucket bucket, gainz_kv* kv) {
    bucket.struct_size = sizeof bucket;
    gainz_program* out = nullptr;
    return device_->program_create(device_.get(), runner_->model(), kv, &bucket, &out, error_.get());
  };
  EXPECT_EQ(program({0, 8, 2, 8, 4, 0}, runner_->kv()), GAINZ_STATUS_OK);
  EXPECT_EQ(program({0, 8, 2, 8, 4, 0}, nullptr), GAINZ_STATUS_INVALID);
  EXPECT_EQ(program({0, 0, 2, 8, 4, 0}, runner_->kv()), GAINZ_STATUS_INVALID);
  EXPECT_EQ(program({0, 8, 0, 8, 4, 0}, runner_->kv()), GAINZ_STATUS_INVALID);
  EXPECT_EQ(program({0, 8, 2, 9, 4, 0}, runner_->kv()), GAINZ_STATUS_INVALID);
  EXPECT_EQ(program({0, 8, 2, 8, 0, 0}, runner_->kv()), GAINZ_STATUS_INVALID);
  EXPECT_EQ(program({0, (1u << 20) + 1, 2, 8, 4, 0}, runner_->kv()), GAINZ_STATUS_LIMIT_EXCEEDED);
}

TEST_F(Steps, AUniformBucketTakesNothingElse) {
  const gainz_bucket bucket{sizeof bucket, 32, 4, 32, 4, 4};
  gainz_program* program = nullptr;
  ASSERT_EQ(device_->program_create(device_.get(), runner_->model(), runner_->kv(), &bucket, &program, error_.get()),
            GAINZ_STATUS_OK);
  uint64_t ticket = 0;
  EXPECT_EQ(device_->run(device_.get(), program, runner_->last_step(), 0, 1, &ticket, error_.get()), GAINZ_STATUS_INVALID);
}

}  // namespace
}  // namespace gainz::test
