// What a step must fulfil before anything is touched.
#include "program.h"

namespace gainz::vulkan {

Status Program::check(const gainz_step& step) const {
  if (step.num_tokens == 0 || step.num_tokens > bucket_.max_tokens || step.num_sequences == 0 ||
      step.num_sequences > bucket_.max_sequences || step.num_output_rows > bucket_.max_output_rows)
    return failure(GAINZ_STATUS_INVALID, "a step of %u tokens, %u sequences, %u output rows in a bucket of %u, %u and %u",
                   step.num_tokens, step.num_sequences, step.num_output_rows, bucket_.max_tokens, bucket_.max_sequences,
                   bucket_.max_output_rows);
  const bool embeds = vocabulary_ != UINT32_MAX;
  if ((embeds && step.tokens == nullptr) || step.positions == nullptr || step.query_offsets == nullptr ||
      step.context_lengths == nullptr || (step.num_output_rows != 0 && step.output_rows == nullptr))
    return failure(GAINZ_STATUS_INVALID, "an array of the step is missing");
  for (uint32_t t = 0; embeds && t < step.num_tokens; ++t)
    if (step.tokens[t] < 0 || static_cast<uint32_t>(step.tokens[t]) >= vocabulary_)
      return failure(GAINZ_STATUS_INVALID, "token %d of row %u is not in the vocabulary of %u", step.tokens[t], t, vocabulary_);
  for (uint32_t r = 0; r < step.num_output_rows; ++r)
    if (step.output_rows[r] >= step.num_tokens || (r != 0 && step.output_rows[r] <= step.output_rows[r - 1]))
      return failure(GAINZ_STATUS_INVALID, "output row %u is row %u of %u; they must rise", r, step.output_rows[r],
                     step.num_tokens);
  GAINZ_SDK_TRY(check_sequences(step));
  GAINZ_SDK_TRY(check_pages(step));
  return check_buffers(step);
}

Status Program::check_sequences(const gainz_step& step) const {
  const bool paged = model_.graph().has_kv();
  const uint64_t longest = uint64_t{bucket_.max_pages_per_sequence} * GAINZ_PAGE_TOKENS;
  if (step.query_offsets[0] != 0 || step.query_offsets[step.num_sequences] != step.num_tokens)
    return failure(GAINZ_STATUS_INVALID, "query offsets go from %u to %u for %u tokens", step.query_offsets[0],
                   step.query_offsets[step.num_sequences], step.num_tokens);
  for (uint32_t s = 0; s < step.num_sequences; ++s) {
    const uint32_t begin = step.query_offsets[s], end = step.query_offsets[s + 1], context = step.context_lengths[s];
    if (end <= begin || end > step.num_tokens || context < end - begin || context > INT32_MAX || (paged && context > longest))
      return failure(GAINZ_STATUS_INVALID, "sequence %u: rows %u to %u, %u tokens in context, room for %llu", s, begin, end,
                     context, wide(longest));
    if (bucket_.uniform_query_length != 0 && end - begin != bucket_.uniform_query_length)
      return failure(GAINZ_STATUS_INVALID, "sequence %u has %u tokens where the bucket says %u", s, end - begin,
                     bucket_.uniform_query_length);
    for (uint32_t t = begin; t < end; ++t)
      if (step.positions[t] < 0 || static_cast<uint32_t>(step.positions[t]) != context - (end - t))
        return failure(GAINZ_STATUS_INVALID, "row %u of sequence %u stands at position %d instead of %u", t, s,
                       step.positions[t], context - (end - t));
  }
  return {};
}

Status Program::check_pages(const gainz_step& step) const {
  if (!model_.graph().has_kv()) return {};
  if (step.pages == nullptr || step.pages_stride < sizeof(gainz_step_pages))
    return failure(GAINZ_STATUS_INVALID, "the step has no pages");
  for (uint32_t g = 0; g < kv_->groups().size(); ++g) {
    const gainz_step_pages& pages = at_stride(step.pages, step.pages_stride, g);
    const uint32_t num_pages = kv_->groups()[g].num_pages;
    if (pages.slots == nullptr || pages.page_table == nullptr)
      return failure(GAINZ_STATUS_INVALID, "page group %u: no slots or no table", g);
    for (uint32_t t = 0; t < step.num_tokens; ++t)
      if (pages.slots[t] / GAINZ_PAGE_TOKENS >= num_pages)
        return failure(GAINZ_STATUS_INVALID, "row %u: slot %u of %u pages", t, pages.slots[t], num_pages);
    for (uint32_t s = 0; s < step.num_sequences; ++s) {
      const uint64_t columns = parts_of(step.context_lengths[s], GAINZ_PAGE_TOKENS);
      if (columns > pages.page_table_stride)
        return failure(GAINZ_STATUS_INVALID, "sequence %u needs %llu columns of a page table of %llu", s, wide(columns),
                       wide(pages.page_table_stride));
      for (uint64_t c = 0; c < columns; ++c)
        if (pages.page_table[s * pages.page_table_stride + c] >= num_pages)
          return failure(GAINZ_STATUS_INVALID, "sequence %u: page %u of %u", s,
                         pages.page_table[s * pages.page_table_stride + c], num_pages);
    }
  }
  return {};
}

Status Program::check_buffer(const gainz_buffer& buffer, uint32_t value, uint32_t rows, bool optional) const {
  const sdk::Value& v = model_.graph().values[value];
  if (buffer.data == nullptr && (optional || rows == 0)) return {};
  const bool aligned = reinterpret_cast<uintptr_t>(buffer.data) % 4 == 0 && buffer.row_stride_bytes % 4 == 0;
  if (buffer.data != nullptr && aligned && (rows <= 1 || buffer.row_stride_bytes >= v.cols() * 4)) return {};
  return failure(GAINZ_STATUS_INVALID,
                 "the buffer of value %u (%s) is missing, not aligned to 4 bytes, or its stride of %llu is too small", value,
                 v.name.c_str(), wide(buffer.row_stride_bytes));
}

Status Program::check_buffers(const gainz_step& step) const {
  const sdk::Graph& graph = model_.graph();
  const bool any = !graph.inputs.empty() || !graph.outputs.empty();
  if ((!graph.inputs.empty() && step.inputs == nullptr) || (!graph.outputs.empty() && step.outputs == nullptr) ||
      (any && step.buffer_stride < sizeof(gainz_buffer)))
    return failure(GAINZ_STATUS_INVALID, "the step's inputs or outputs are missing");
  const auto rows_of = [&](uint32_t v) {
    return graph.values[v].rows == GAINZ_ROWS_OUTPUTS ? step.num_output_rows : step.num_tokens;
  };
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    GAINZ_SDK_TRY(
        check_buffer(at_stride(step.inputs, step.buffer_stride, i), graph.inputs[i], rows_of(graph.inputs[i]), false));
  for (size_t o = 0; o < graph.outputs.size(); ++o)
    GAINZ_SDK_TRY(
        check_buffer(at_stride(step.outputs, step.buffer_stride, o), graph.outputs[o], rows_of(graph.outputs[o]), true));
  if (step.logit_masks == nullptr) return {};
  for (const sdk::Node& node : graph.nodes)
    if (node.op == GAINZ_OP_LOGIT_MASK && step.logit_mask_stride < parts_of(node.input(0).cols(), 32))
      return failure(GAINZ_STATUS_INVALID, "logit masks of %llu words for %llu logits", wide(step.logit_mask_stride),
                     wide(node.input(0).cols()));
  return {};
}

}  // namespace gainz::vulkan
