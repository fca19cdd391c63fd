#include "border.h"
#include "handles.h"

namespace gainz::sdk {
namespace {

Status bad(const char* what, uint64_t index, uint64_t value, uint64_t limit) {
  return failure(GAINZ_STATUS_INVALID, "step: %s %llu is %llu, the limit is %llu", what, static_cast<unsigned long long>(index),
                 static_cast<unsigned long long>(value), static_cast<unsigned long long>(limit));
}

Status check_counts(const gainz_bucket& bucket, const gainz_step& step) {
  if (step.num_tokens == 0 || step.num_tokens > bucket.max_tokens)
    return bad("num_tokens", 0, step.num_tokens, bucket.max_tokens);
  if (step.num_sequences == 0 || step.num_sequences > bucket.max_sequences) {
    return bad("num_sequences", 0, step.num_sequences, bucket.max_sequences);
  }
  if (step.num_output_rows > bucket.max_output_rows)
    return bad("num_output_rows", 0, step.num_output_rows, bucket.max_output_rows);
  if (step.query_offsets == nullptr || step.context_lengths == nullptr || step.positions == nullptr ||
      (step.output_rows == nullptr && step.num_output_rows != 0)) {
    return failure(GAINZ_STATUS_INVALID, "step: query_offsets, context_lengths, positions or output_rows is NULL");
  }
  return {};
}

Status check_sequences(const gainz_bucket& bucket, const gainz_step& step) {
  const uint32_t* offsets = step.query_offsets;
  if (offsets[0] != 0 || offsets[step.num_sequences] != step.num_tokens) {
    return failure(GAINZ_STATUS_INVALID, "step: query_offsets go from %u to %u, not from 0 to num_tokens %u", offsets[0],
                   offsets[step.num_sequences], step.num_tokens);
  }
  for (uint32_t s = 0; s < step.num_sequences; ++s) {
    if (offsets[s + 1] <= offsets[s] || offsets[s + 1] > step.num_tokens) {
      return failure(GAINZ_STATUS_INVALID, "step: sequence %u has query offsets %u to %u", s, offsets[s], offsets[s + 1]);
    }
    const uint32_t length = offsets[s + 1] - offsets[s];
    if (bucket.uniform_query_length != 0 && length != bucket.uniform_query_length) {
      return bad("the query length of sequence", s, length, bucket.uniform_query_length);
    }
    // A graph without attention needs no pages, and its bucket may say so.
    const bool paged = bucket.max_pages_per_sequence != 0;
    const uint64_t most = paged ? uint64_t{bucket.max_pages_per_sequence} * GAINZ_PAGE_TOKENS : kMaxDim;
    const uint32_t context = step.context_lengths[s];
    if (context < length || context > most || context > kMaxDim) return bad("the context length of sequence", s, context, most);
    for (uint32_t i = 0; i < length; ++i) {
      const int64_t position = int64_t{context} - length + i;
      if (step.positions[offsets[s] + i] == position) continue;
      return failure(GAINZ_STATUS_INVALID, "step: token %u has position %d where its sequence's context asks for %lld",
                     offsets[s] + i, step.positions[offsets[s] + i], static_cast<long long>(position));
    }
  }
  return {};
}

Status check_rows(const gainz_step& step) {
  for (uint32_t r = 0; r < step.num_output_rows; ++r) {
    if (step.output_rows[r] >= step.num_tokens) return bad("output row", r, step.output_rows[r], step.num_tokens);
    if (r > 0 && step.output_rows[r] <= step.output_rows[r - 1]) {
      return failure(GAINZ_STATUS_INVALID, "step: output row %u (%u) does not rise", r, step.output_rows[r]);
    }
  }
  for (uint32_t t = 0; step.phases != nullptr && t < step.num_tokens; ++t) {
    if (step.phases[t] > GAINZ_PHASE_GENERATED) return bad("the phase of token", t, step.phases[t], GAINZ_PHASE_GENERATED);
  }
  return {};
}

Status check_pages(const gainz_program& program, const gainz_step& step, uint32_t group, bool tables) {
  gainz_step_pages pages{};
  GAINZ_SDK_TRY(read_element(step.pages, step.pages_stride, group, &pages, "gainz_step_pages"));
  const uint64_t num_pages = program.kv->num_pages[group];
  if (pages.slots == nullptr || (tables && pages.page_table == nullptr)) {
    return failure(GAINZ_STATUS_INVALID, "step: page group %u has no slots or no page table", group);
  }
  for (uint32_t t = 0; t < step.num_tokens; ++t) {
    if (pages.slots[t] >= num_pages * GAINZ_PAGE_TOKENS)
      return bad("the slot of token", t, pages.slots[t], num_pages * GAINZ_PAGE_TOKENS);
  }
  for (uint32_t s = 0; tables && s < step.num_sequences; ++s) {
    const uint64_t columns = (uint64_t{step.context_lengths[s]} + GAINZ_PAGE_TOKENS - 1) / GAINZ_PAGE_TOKENS;
    if (columns > pages.page_table_stride)
      return bad("the page table's stride for sequence", s, pages.page_table_stride, columns);
    for (uint64_t c = 0; c < columns; ++c) {
      const uint32_t page = pages.page_table[s * pages.page_table_stride + c];
      if (page >= num_pages) return bad("a page of sequence", s, page, num_pages);
    }
  }
  return {};
}

Status check_buffer(const gainz_step& step, const gainz_buffer* buffers, uint32_t i, const Value& value, bool input) {
  gainz_buffer buffer{};
  GAINZ_SDK_TRY(read_element(buffers, step.buffer_stride, i, &buffer, input ? "step inputs" : "step outputs"));
  const uint64_t rows = value.rows == GAINZ_ROWS_TOKENS ? step.num_tokens : step.num_output_rows;
  if (buffer.data == nullptr && (!input || rows == 0)) return {};
  if (buffer.data == nullptr) return failure(GAINZ_STATUS_INVALID, "step: input %u has no data", i);
  if ((reinterpret_cast<uintptr_t>(buffer.data) | buffer.row_stride_bytes) % 4 != 0) {
    return failure(GAINZ_STATUS_INVALID, "step: %s %u or its row stride is not a multiple of four bytes",
                   input ? "input" : "output", i);
  }
  if (rows > 1 && buffer.row_stride_bytes < value.cols() * 4)
    return bad("the row stride of buffer", i, buffer.row_stride_bytes, value.cols() * 4);
  return {};
}

// Ids from outside that choose experts.
Status check_ids(const Graph& graph, const gainz_step& step, uint32_t input, uint64_t limit) {
  for (uint32_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.inputs[i] != input) continue;
    gainz_buffer buffer{};
    GAINZ_SDK_TRY(read_element(step.inputs, step.buffer_stride, i, &buffer, "step inputs"));
    const Value& value = graph.values[input];
    const uint64_t rows = value.rows == GAINZ_ROWS_TOKENS ? step.num_tokens : step.num_output_rows;
    for (uint64_t r = 0; r < rows; ++r) {
      const auto* row = reinterpret_cast<const int32_t*>(static_cast<const char*>(buffer.data) + r * buffer.row_stride_bytes);
      for (uint64_t c = 0; c < value.cols(); ++c) {
        if (row[c] < 0 || static_cast<uint64_t>(row[c]) >= limit) {
          return failure(GAINZ_STATUS_INVALID, "step: input %u holds id %d, there are %llu", i, row[c],
                         static_cast<unsigned long long>(limit));
        }
      }
    }
  }
  return {};
}

Status check_tokens(const gainz_step& step, uint64_t num_vocabulary) {
  if (step.tokens == nullptr) return failure(GAINZ_STATUS_INVALID, "step: tokens is NULL");
  for (uint32_t t = 0; t < step.num_tokens; ++t) {
    if (step.tokens[t] < 0 || static_cast<uint64_t>(step.tokens[t]) >= num_vocabulary) {
      return failure(GAINZ_STATUS_INVALID, "step: token %u is %d, the vocabulary has %llu", t, step.tokens[t],
                     static_cast<unsigned long long>(num_vocabulary));
    }
  }
  return {};
}

Status check_for_node(const Graph& graph, const gainz_step& step, const Node& node) {
  if (node.op == GAINZ_OP_EMBED) return check_tokens(step, node.input(0).dims[1]);
  if (node.op == GAINZ_OP_MOE_LINEAR) return check_ids(graph, step, node.inputs[1], node.input(2).dims[2]);
  if (node.op == GAINZ_OP_LOGIT_MASK && step.logit_masks != nullptr) {
    const uint64_t words = (node.input(0).cols() + 31) / 32;
    if (step.num_output_rows > 1 && step.logit_mask_stride < words)
      return bad("logit_mask_stride", 0, step.logit_mask_stride, words);
  }
  return {};
}

}  // namespace

Status check_step(const gainz_program& program, const gainz_step& step) {
  const Graph& graph = program.model->graph;
  GAINZ_SDK_TRY(check_counts(program.bucket, step));
  GAINZ_SDK_TRY(check_sequences(program.bucket, step));
  GAINZ_SDK_TRY(check_rows(step));
  for (uint32_t i = 0; i < graph.inputs.size(); ++i) {
    GAINZ_SDK_TRY(check_buffer(step, step.inputs, i, graph.values[graph.inputs[i]], true));
  }
  for (uint32_t i = 0; i < graph.outputs.size(); ++i) {
    GAINZ_SDK_TRY(check_buffer(step, step.outputs, i, graph.values[graph.outputs[i]], false));
  }
  for (uint32_t group = 0; group < program.checked_groups.size(); ++group) {
    if (program.checked_groups[group] != 0)
      GAINZ_SDK_TRY(check_pages(program, step, group, program.checked_groups[group] == 2));
  }
  for (uint32_t n : program.checked_nodes) GAINZ_SDK_TRY(check_for_node(graph, step, graph.nodes[n]));
  return {};
}

}  // namespace gainz::sdk
