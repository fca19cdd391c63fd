// FakeModel: a Model without weights that keeps token ids in its pages and makes each row of logits from the ids it finds
// there. So a wrong slot, page, copy or window shows as a wrong token. Threads: as Model.
#pragma once

#include <atomic>
#include <vector>

#include "model/model.h"

namespace gainz {

class FakeModel : public Model {
 public:
  explicit FakeModel(uint32_t vocab_size, std::vector<uint32_t> windows = {0, 40});

  // The token that greedy generation gives after `context`.
  static int32_t next_token(std::span<const int32_t> context, uint32_t vocab_size);
  static std::vector<float> logits_after(std::span<const int32_t> context, uint32_t vocab_size);

  const ModelInfo& info() const override { return info_; }
  std::shared_ptr<const Gguf> file() const override { return nullptr; }
  const DeviceInfo& device() const override { return device_; }
  uint32_t num_scalar_nodes() const override { return 0; }
  uint64_t weight_bytes() const override { return 0; }
  bool supports_kv_type(uint32_t) const override { return true; }
  Status prepare(uint32_t, uint32_t, std::span<const uint32_t> num_pages, const gainz_bucket& bucket) override;
  Status copy_pages(uint32_t group, std::span<const gainz_page_copy> copies) override;
  Status begin(const StepArrays& step) override;
  Result<bool> advance() override;
  uint32_t num_slices() const override { return slices; }

  uint32_t slices = 3;
  Status fail_next;  // what the next advance() answers, once
  std::atomic<uint64_t> num_steps{0}, num_tokens{0}, num_faults{0};
  std::atomic<uint32_t> most_sequences{0};
  std::atomic<bool> hold{false};  // advance() waits while this is set

 private:
  void check_step(const StepArrays& step);
  void compute_row(const StepArrays& step, size_t row);

  ModelInfo info_;
  DeviceInfo device_;
  gainz_bucket bucket_{};
  std::vector<std::vector<int32_t>> pages_;  // [groups][num_pages * 16] token ids
  StepArrays step_;
  uint32_t next_slice_ = 0;
};

}  // namespace gainz
