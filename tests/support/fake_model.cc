#include "support/fake_model.h"

#include <chrono>
#include <thread>

#include "engine/page_pool.h"

namespace gainz {
namespace {

uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

std::vector<float> row_of(uint64_t hash, uint32_t vocab_size) {
  std::vector<float> row(vocab_size);
  for (uint32_t v = 0; v < vocab_size; ++v) row[v] = float(mix(mix(hash, v), 77) >> 40) * 0x1p-21f;
  for (uint32_t v = 0; v < std::min(vocab_size, 3u); ++v) row[v] = -100;  // the tiny vocabulary's control tokens
  return row;
}

}  // namespace

FakeModel::FakeModel(uint32_t vocab_size, std::vector<uint32_t> windows) {
  info_.architecture = "fake";
  info_.vocab_size = vocab_size;
  info_.context_length = 4096;
  info_.num_layers = 1;
  info_.embedding_length = 4;
  for (uint32_t window : windows) info_.page_groups.push_back({sizeof(gainz_page_group), 1, 1, 32, 32, window});
  device_.backend = "fake";
}

std::vector<float> FakeModel::logits_after(std::span<const int32_t> context, uint32_t vocab_size) {
  uint64_t hash = 1;
  for (int32_t id : context) hash = mix(hash, uint32_t(id));
  return row_of(hash, vocab_size);
}

int32_t FakeModel::next_token(std::span<const int32_t> context, uint32_t vocab_size) {
  const auto row = logits_after(context, vocab_size);
  return int32_t(std::max_element(row.begin(), row.end()) - row.begin());
}

Status FakeModel::prepare(uint32_t, uint32_t, std::span<const uint32_t> num_pages, const gainz_bucket& bucket) {
  bucket_ = bucket;
  for (uint32_t n : num_pages) pages_.emplace_back(size_t{n} * kPageTokens, -1);
  return {};
}

Status FakeModel::copy_pages(uint32_t group, std::span<const gainz_page_copy> copies) {
  for (const auto& copy : copies)
    std::copy_n(pages_[group].begin() + copy.source * kPageTokens, kPageTokens,
                pages_[group].begin() + copy.target * kPageTokens);
  return {};
}

Status FakeModel::begin(const StepArrays& step) {
  step_ = step;
  next_slice_ = 0;
  check_step(step);
  return {};
}

// What the ABI promises a plugin.
void FakeModel::check_step(const StepArrays& step) {
  const size_t num_tokens_in_step = step.tokens.size(), num_sequences = step.context_lengths.size();
  bool ok = num_tokens_in_step > 0 && num_tokens_in_step <= bucket_.max_tokens && num_sequences <= bucket_.max_sequences &&
            step.output_rows.size() <= bucket_.max_output_rows;
  ok &= step.query_offsets.size() == num_sequences + 1 && step.query_offsets.back() == num_tokens_in_step &&
        step.phases.size() == num_tokens_in_step;
  for (size_t s = 0; ok && s < num_sequences; ++s)
    for (uint32_t i = step.query_offsets[s]; i < step.query_offsets[s + 1]; ++i)
      ok &= uint32_t(step.positions[i]) == step.context_lengths[s] - (step.query_offsets[s + 1] - i);
  for (size_t g = 0; g < pages_.size(); ++g)
    for (uint32_t slot : step.slots[g]) ok &= slot >= kPageTokens && slot < pages_[g].size();
  if (!ok) ++num_faults;
  most_sequences = std::max(most_sequences.load(), uint32_t(num_sequences));
}

Result<bool> FakeModel::advance() {
  while (hold) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!fail_next.ok()) return std::exchange(fail_next, Status());
  if (++next_slice_ < slices) return false;
  for (size_t g = 0; g < pages_.size(); ++g)
    for (size_t i = 0; i < step_.tokens.size(); ++i) pages_[g][step_.slots[g][i]] = step_.tokens[i];
  for (size_t row = 0; row < step_.output_rows.size(); ++row) compute_row(step_, row);
  ++num_steps;
  num_tokens += step_.tokens.size();
  return true;
}

void FakeModel::compute_row(const StepArrays& step, size_t row) {
  const uint32_t token = step.output_rows[row];
  uint32_t s = 0;
  while (step.query_offsets[s + 1] <= token) ++s;
  const uint32_t position = uint32_t(step.positions[token]);
  uint64_t hash = 1;
  for (uint32_t p = 0; p <= position; ++p) {
    int32_t id = -1;
    for (size_t g = 0; g < pages_.size(); ++g) {
      const uint32_t window = info_.page_groups[g].window;
      if (window != 0 && p + window <= position) continue;
      const uint32_t page = step.page_tables[g][s * step.page_table_stride + p / kPageTokens];
      const int32_t found = pages_[g][page * kPageTokens + p % kPageTokens];
      if (page == 0 || (id >= 0 && found != id)) ++num_faults;
      id = found;
    }
    hash = mix(hash, uint32_t(id));
  }
  if (step.logits) {
    const auto logits = row_of(hash, info_.vocab_size);
    std::copy(logits.begin(), logits.end(), step.logits + row * info_.vocab_size);
  }
  if (step.hidden)
    for (uint32_t i = 0; i < info_.embedding_length; ++i)
      step.hidden[row * info_.embedding_length + i] = float(position) + float(i) / 4;
}

}  // namespace gainz
