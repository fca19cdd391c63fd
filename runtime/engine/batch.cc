#include "engine/batch.h"

namespace gainz {

Result<Batch> Batch::create(const Services& services, const SchedulerLimits& limits, uint32_t num_groups,
                            uint32_t max_pages_per_sequence, uint32_t vocab_size, uint32_t embedding_length) {
  Batch batch;
  batch.vocab_size_ = vocab_size;
  batch.embedding_length_ = embedding_length;
  batch.stride_ = max_pages_per_sequence;
  batch.tokens_.reserve(limits.batch_tokens);
  batch.positions_.reserve(limits.batch_tokens);
  batch.phases_.reserve(limits.batch_tokens);
  batch.query_offsets_.reserve(limits.max_sequences + 1);
  batch.context_lengths_.reserve(limits.max_sequences);
  batch.output_rows_.reserve(limits.max_rows);
  batch.rows_.reserve(limits.max_rows);
  batch.slots_.resize(num_groups);
  batch.page_tables_.resize(num_groups);
  batch.slot_spans_.resize(num_groups);
  batch.table_spans_.resize(num_groups);
  for (auto& slots : batch.slots_) slots.reserve(limits.batch_tokens);
  for (auto& table : batch.page_tables_) table.resize(size_t{limits.max_sequences} * max_pages_per_sequence);
  GAINZ_ASSIGN(batch.logits_, Memory::create(services, size_t{limits.max_rows} * vocab_size * sizeof(float)));
  GAINZ_ASSIGN(batch.hidden_, Memory::create(services, size_t{limits.max_rows} * embedding_length * sizeof(float)));
  return batch;
}

const StepArrays& Batch::lay_out(const Schedule& schedule, const PagePool& pool, bool want_logits, bool want_hidden) {
  tokens_.clear();
  positions_.clear();
  phases_.clear();
  query_offsets_.assign(1, 0);
  context_lengths_.clear();
  output_rows_.clear();
  rows_.clear();
  for (auto& slots : slots_) slots.clear();
  for (uint32_t i = 0; i < schedule.items.size(); ++i) add_item(i, schedule.items[i], pool);
  for (size_t g = 0; g < slots_.size(); ++g) {
    slot_spans_[g] = slots_[g];
    table_spans_[g] = {page_tables_[g].data(), schedule.items.size() * stride_};
  }
  arrays_ = {tokens_,     positions_,   phases_, query_offsets_, context_lengths_, output_rows_,
             slot_spans_, table_spans_, stride_, nullptr,        nullptr};
  if (want_logits && !rows_.empty()) arrays_.logits = static_cast<float*>(logits_.data());
  if (want_hidden && !rows_.empty()) arrays_.hidden = static_cast<float*>(hidden_.data());
  return arrays_;
}

void Batch::add_item(uint32_t index, const ScheduledTokens& item, const PagePool& pool) {
  const Sequence& s = *item.sequence;
  for (uint32_t i = s.num_computed; i < s.num_computed + item.num_tokens; ++i) {
    if (s.wants_row(i)) {
      output_rows_.push_back(uint32_t(tokens_.size()));
      rows_.push_back({index, i});
    }
    tokens_.push_back(s.token(i));
    positions_.push_back(int32_t(i));
    phases_.push_back(s.phase(i));
    for (uint32_t g = 0; g < slots_.size(); ++g)
      slots_[g].push_back(pool.page(s.blocks[i / kPageTokens], g) * kPageTokens + i % kPageTokens);
  }
  query_offsets_.push_back(uint32_t(tokens_.size()));
  context_lengths_.push_back(s.num_computed + item.num_tokens);
  for (uint32_t g = 0; g < page_tables_.size(); ++g) {
    uint32_t* table = page_tables_[g].data() + size_t{index} * stride_;
    for (uint32_t b = 0; b < stride_; ++b) table[b] = b < s.blocks.size() ? pool.page(s.blocks[b], g) : 0;
  }
}

}  // namespace gainz
