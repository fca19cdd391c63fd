#include "program.h"

#include <algorithm>
#include <cstring>

namespace gainz::onednn {

namespace {
constexpr uint32_t kMaxTokens = 1u << 20;
constexpr uint32_t kMaxPagesPerSequence = 1u << 24;
constexpr uint64_t kUnitsPerWorker = 2;  // of attention, below which chunks run apart
}  // namespace

Status Program::create(const gainz_bucket& bucket) {
  bucket_ = bucket;
  const sdk::Graph& graph = model_.graph();
  if (bucket.max_tokens == 0 || bucket.max_sequences == 0 || bucket.max_sequences > bucket.max_tokens)
    return failure(GAINZ_STATUS_INVALID, "a bucket of %u tokens in %u sequences", bucket.max_tokens, bucket.max_sequences);
  if (bucket.max_tokens > kMaxTokens || bucket.max_output_rows > kMaxTokens ||
      bucket.max_pages_per_sequence > kMaxPagesPerSequence)
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "a bucket of %u tokens, %u output rows, %u pages; at most %u, %u and %u",
                   bucket.max_tokens, bucket.max_output_rows, bucket.max_pages_per_sequence, kMaxTokens, kMaxTokens,
                   kMaxPagesPerSequence);
  if (graph.has_kv() && (kv_ == nullptr || kv_->groups().size() != graph.groups.size()))
    return failure(GAINZ_STATUS_INVALID, "the graph has %zu page groups; no KV fits", graph.groups.size());
  GAINZ_SDK_TRY(plan_.make(model_, bucket, kernels_.tiles != nullptr));
  GAINZ_SDK_TRY(arena_.allocate(host_.table(), plan_.arena_bytes, "a program's scratch"));
  rows_.resize(plan_.buffers.size());
  size_t most_jobs = 0;
  uint64_t most_rows = 0;
  for (const Stage& stage : plan_.stages) {
    uint64_t stage_rows = 0;
    size_t stage_jobs = 0;
    for (const Op& op : stage.ops) {
      const uint64_t rows = op.domain == GAINZ_ROWS_OUTPUTS ? bucket.max_output_rows : bucket.max_tokens;
      if (op.op == GAINZ_OP_EMBED)
        vocabulary_ = std::min<uint32_t>(vocabulary_, static_cast<uint32_t>(op.node->input(0).dims[1]));
      if (op.op == GAINZ_OP_MOE_ROUTE) worker_bytes_ = std::max(worker_bytes_, round_up(op.node->input(0).cols() * 4, 64));
      if (op.op == GAINZ_OP_LINEAR) stage_rows += rows, stage_jobs += 2;  // prompt and generated rows apart
      if (op.op == GAINZ_OP_MOE_LINEAR) {
        const uint32_t experts = model_.weight(op.node->inputs[2]).matrix.num_matrices;
        stage_rows += rows * op.node->attr.moe_linear.num_chosen;
        stage_jobs += experts;
        expert_fill_.resize(std::max<size_t>(expert_fill_.size(), experts + 1));
      }
      if (op.op == GAINZ_OP_ATTENTION) {
        const gainz_attention_attr& a = op.node->attr.attention;
        if (has_tiled_attention(a))
          worker_bytes_ = std::max(worker_bytes_, round_up(tile_attention_bytes(a.k_head_dim, a.v_head_dim), 64));
        part_floats_ = std::max<uint64_t>(
            part_floats_, static_cast<uint64_t>(a.num_heads / a.num_kv_heads) * (round_up(a.v_head_dim, 16) + 16));
        max_parts_ =
            std::max<uint64_t>(max_parts_, std::min<uint64_t>(kUnitsPerWorker * host_.num_workers(),
                                                              static_cast<uint64_t>(bucket.max_sequences) * a.num_kv_heads));
      }
    }
    most_jobs = std::max(most_jobs, stage_jobs);
    most_rows = std::max(most_rows, stage_rows);
  }
  jobs_.resize(most_jobs);
  sources_.resize(most_rows);
  targets_.resize(most_rows);
  unit_begin_.resize(bucket.max_sequences + 1ull);
  if (plan_.uses_tiles) {
    tile_places_.resize(bucket.max_tokens);
    const uint64_t sum_floats =
        round_up(std::min<uint64_t>(bucket.max_tokens, kTileRowsPerUnit), 2 * kTileRows) * 2 * kPanelRows;
    worker_bytes_ = std::max(worker_bytes_, kTileScratchBytes + sum_floats * sizeof(float));
  }
  max_chunks_ =
      static_cast<uint32_t>(parts_of(static_cast<uint64_t>(bucket.max_pages_per_sequence) * kPageTokens, kAttentionChunk));
  GAINZ_SDK_TRY(
      worker_scratch_.allocate(host_.table(), worker_bytes_ * host_.num_workers(), "a program's scratch of each worker"));
  return part_scratch_.allocate(host_.table(), max_parts_ * max_chunks_ * part_floats_ * 4, "partial results of attention");
}

void Program::describe(gainz_program_info* out_info) const {
  out_info->num_slices = static_cast<uint32_t>(plan_.slice_cost.size());
  out_info->slice_cost = plan_.slice_cost.data();
  out_info->memory_bytes = arena_.size() + worker_scratch_.size() + part_scratch_.size();
}

void Program::bind(const gainz_step& step) {
  step_ = step;
  const sdk::Graph& graph = model_.graph();
  for (size_t b = 0; b < rows_.size(); ++b) {
    const Place& p = plan_.buffers[b];
    rows_[b] = Rows{p.wanted ? placed<float>(p) : nullptr, p.stride_bytes / 4, p.domain};
  }
  const auto use = [&](uint32_t value, const gainz_buffer& buffer) {
    rows_[value].data = static_cast<float*>(buffer.data);
    rows_[value].stride = buffer.row_stride_bytes / 4;
  };
  for (size_t i = 0; i < graph.inputs.size(); ++i) use(graph.inputs[i], at_stride(step.inputs, step.buffer_stride, i));
  place_phases();
  active_mask_ = kMaskAlways;
  for (size_t o = 0; o < graph.outputs.size(); ++o) {
    const gainz_buffer& buffer = at_stride(step.outputs, step.buffer_stride, o);
    if (buffer.data == nullptr) continue;
    active_mask_ |= 1ull << std::min<size_t>(o, 62);
    if (graph.values[graph.outputs[o]].kind == GAINZ_VALUE_NODE) use(graph.outputs[o], buffer);
  }
}

// Where each token lies in tiled acts: prompt tokens in their order from the first tile on, then the others, row by row.
void Program::place_phases() {
  num_prompt_ = 0;
  if (!plan_.uses_tiles) return;
  for (uint32_t t = 0; t < step_.num_tokens; ++t) num_prompt_ += is_prompt(t) ? 1 : 0;
  uint32_t prompt = 0, other = static_cast<uint32_t>(round_up(num_prompt_, kTileRows));
  for (uint32_t t = 0; t < step_.num_tokens; ++t) tile_places_[t] = is_prompt(t) ? prompt++ : other++;
}

// Outputs that are inputs of the graph, or that are listed twice: the last of the list was computed in place.
void Program::copy_plain_outputs(const gainz_step& step) const {
  const sdk::Graph& graph = model_.graph();
  for (size_t o = 0; o < graph.outputs.size(); ++o) {
    const gainz_buffer& buffer = at_stride(step.outputs, step.buffer_stride, o);
    const Rows& from = rows_[graph.outputs[o]];
    if (buffer.data == nullptr || buffer.data == from.data) continue;
    const sdk::Value& value = graph.values[graph.outputs[o]];
    for (uint32_t r = 0; r < num_rows(value.rows); ++r)
      std::memcpy(static_cast<char*>(buffer.data) + r * buffer.row_stride_bytes, from.data + r * from.stride, value.cols() * 4);
  }
}

Status Program::run(const gainz_step& step, uint32_t first_slice, uint32_t num_slices) {
  const auto all = static_cast<uint32_t>(plan_.slice_cost.size());
  if (num_slices == 0 || first_slice >= all || num_slices > all - first_slice ||
      (first_slice != 0 && first_slice != next_slice_))
    return failure(GAINZ_STATUS_INVALID, "slices %u to %u of %u, where %u is next", first_slice, first_slice + num_slices, all,
                   next_slice_);
  GAINZ_SDK_TRY(check(step));
  bind(step);
  for (uint32_t s = plan_.slices[first_slice]; s < plan_.slices[first_slice + num_slices]; ++s) run_stage(plan_.stages[s]);
  next_slice_ = first_slice + num_slices;
  if (dnn_failed_.exchange(false)) return failure(GAINZ_STATUS_INTERNAL, "a oneDNN product failed");
  if (next_slice_ == all) copy_plain_outputs(step);
  return {};
}

void Program::run_stage(const Stage& stage) {
  if ((stage.mask & active_mask_) == 0 || num_rows(stage.domain) == 0) return;
  switch (stage.kind) {
    case Stage::kRows:
      return run_rows(stage);
    case Stage::kLinear:
      return run_linear(stage);
    case Stage::kMoe:
      return run_moe(stage);
    case Stage::kAttention:
      return run_attention(stage);
  }
}

}  // namespace gainz::onednn
