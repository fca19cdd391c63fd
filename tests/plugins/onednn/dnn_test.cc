// That oneDNN's products, as DnnLinear calls them, give a row the same bits whatever is beside it: the condition for using them
// at all.
#include "dnn.h"

#include <gtest/gtest.h>

#include <thread>

#include "kernel_tables.h"

namespace gainz::onednn::test {
namespace {

class Dnn : public ::testing::TestWithParam<std::pair<uint32_t, uint32_t>> {  // columns, rows
 protected:
  void SetUp() override {
    weight_ = std::make_unique<TestWeight>(host_, GAINZ_TYPE_F32, GetParam().first, GetParam().second);
    dnn_ = DnnLinear::make(GetParam().first, weight_->packed.num_panels, 2);
    if (dnn_ == nullptr) GTEST_SKIP() << "built without oneDNN, or it has no such product on this CPU";
  }
  // Results of one row of x at `place` of a tile whose other rows hold random values of size `noise`.
  std::vector<float> row(const std::vector<float>& x, uint32_t place, float noise, uint32_t worker = 0) {
    std::vector<float> out;
    const PackedWeight& w = weight_->packed;
    const std::vector<float> others = random_floats(kDnnTile * dnn_->tile_stride(), place + 1, noise);
    for (uint32_t panel = 0; panel < w.num_panels; panel += kDnnSlicePanels) {
      const uint32_t slice = panel / kDnnSlicePanels;
      for (uint32_t t = 0; t < kDnnTile; ++t)
        for (uint32_t k = 0; k < w.num_columns; ++k)
          dnn_->tile(worker)[t * dnn_->tile_stride() + k] = t == place   ? x[k]
                                                            : noise == 0 ? 0.0f
                                                                         : others[t * dnn_->tile_stride() + k];
      EXPECT_TRUE(dnn_->run(worker, slice, w.panel(0, panel)));
      const float* y = dnn_->result(worker) + place * dnn_->result_stride(slice);
      out.insert(out.end(), y, y + dnn_->result_stride(slice));
    }
    out.resize(w.num_rows);
    return out;
  }
  TestHost host_{1};
  std::unique_ptr<TestWeight> weight_;
  std::unique_ptr<DnnLinear> dnn_;
};

TEST_P(Dnn, ARowsBitsDependNeitherOnItsPlaceNorOnItsNeighbours) {
  const std::vector<float> x = random_floats(GetParam().first, 77), want = row(x, 0, 0);
  for (uint32_t place = 0; place < kDnnTile; ++place)
    for (const float noise : {0.0f, 1.0f, 1e20f}) ASSERT_EQ(row(x, place, noise, place % 2), want) << place << " " << noise;
}

TEST_P(Dnn, TheProductIsRight) {
  const std::vector<float> x = random_floats(GetParam().first, 78), y = row(x, 3, 1);
  for (uint32_t n = 0; n < GetParam().second; ++n) {
    double want = 0, magnitude = 0;
    for (uint32_t k = 0; k < GetParam().first; ++k) {
      const double term = static_cast<double>(weight_->values[static_cast<size_t>(n) * GetParam().first + k]) * x[k];
      want += term;
      magnitude += std::fabs(term);
    }
    ASSERT_NEAR(y[n], want, 2e-6 * magnitude) << n;
  }
}

TEST_P(Dnn, WorkersMayRunAtOnce) {
  const std::vector<float> x = random_floats(GetParam().first, 79), want = row(x, 0, 1);
  std::vector<float> got[2];
  std::thread other([&] {
    for (int i = 0; i < 5; ++i) got[1] = row(x, 0, 1, 1);
  });
  for (int i = 0; i < 5; ++i) got[0] = row(x, 0, 1, 0);
  other.join();
  EXPECT_EQ(got[0], want);
  EXPECT_EQ(got[1], want);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Dnn,
                         ::testing::Values(std::pair{64u, 16u}, std::pair{64u, 97u}, std::pair{576u, 600u},
                                           std::pair{1536u, 576u}, std::pair{37u, 40u}));

}  // namespace
}  // namespace gainz::onednn::test
