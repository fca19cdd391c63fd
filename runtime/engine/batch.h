// Batch: a schedule laid out as the arrays of one step.
//
// Before: Scheduler decided who runs. After: Model hands the arrays to the device.
// Owner: the Engine. Threads: the engine's. Everything is allocated in create.
#pragma once

#include <span>
#include <vector>

#include "base/services.h"
#include "engine/scheduler.h"
#include "model/model.h"

namespace gainz {

struct BatchRow {
  uint32_t item;         // of the schedule
  uint32_t token_index;  // in its sequence
};

class Batch {
 public:
  static Result<Batch> create(const Services& services, const SchedulerLimits& limits, uint32_t num_groups,
                              uint32_t max_pages_per_sequence, uint32_t vocab_size, uint32_t embedding_length);
  // The arrays of `schedule`; valid until the next call. want_logits, want_hidden: which outputs to compute.
  const StepArrays& lay_out(const Schedule& schedule, const PagePool& pool, bool want_logits, bool want_hidden);

  std::span<const BatchRow> rows() const { return rows_; }
  std::span<const float> logits(size_t row) const { return logits_.as<float>().subspan(row * vocab_size_, vocab_size_); }
  std::span<const float> hidden(size_t row) const {
    return hidden_.as<float>().subspan(row * embedding_length_, embedding_length_);
  }

 private:
  void add_item(uint32_t index, const ScheduledTokens& item, const PagePool& pool);

  uint32_t vocab_size_ = 0, embedding_length_ = 0, stride_ = 0;
  std::vector<int32_t> tokens_, positions_;
  std::vector<uint8_t> phases_;
  std::vector<uint32_t> query_offsets_, context_lengths_, output_rows_;
  std::vector<std::vector<uint32_t>> slots_, page_tables_;
  std::vector<std::span<const uint32_t>> slot_spans_, table_spans_;
  std::vector<BatchRow> rows_;
  Memory logits_, hidden_;
  StepArrays arrays_;
};

}  // namespace gainz
