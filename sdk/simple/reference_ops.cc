// The ops of ops.h by the scalar kernels, split among the host's workers where rows or columns are independent.
#include <algorithm>

#include "gainz/sdk/simple_backend.h"
#include "reference/activation.h"
#include "reference/attention.h"
#include "reference/dequantize.h"
#include "reference/elementwise.h"
#include "reference/kv.h"
#include "reference/linear.h"
#include "reference/moe.h"
#include "reference/norm.h"
#include "reference/rope.h"
#include "reference/select.h"

namespace gainz::sdk {
namespace {

constexpr uint64_t kGrainMultiplications = 1u << 16;  // below this a worker is not worth waking
constexpr uint64_t kGrainValues = 1u << 14;

uint64_t grain_for(uint64_t work_each, uint64_t target) {
  return std::max<uint64_t>(1, target / std::max<uint64_t>(1, work_each));
}

float* floats(const Compute& c, uint32_t worker) { return static_cast<float*>(c.scratch(worker)); }

// f(begin, end) over the rows of a node, each of `cols` values.
template <class F>
void for_rows(const Compute& c, uint64_t cols, F f) {
  c.parallel_for(c.rows(), grain_for(cols, kGrainValues), [&](uint64_t begin, uint64_t end, uint32_t) { f(begin, end); });
}
// f(begin, end) over all values of a node.
template <class F>
void for_values(const Compute& c, uint64_t cols, F f) {
  c.parallel_for(c.rows() * cols, kGrainValues, [&](uint64_t begin, uint64_t end, uint32_t) { f(begin, end); });
}

void compute_linear(Compute& c) {
  const Weight w = c.weight(1);
  // A worker takes several weight rows, each of which costs its dequantization and a product with every row of x.
  c.parallel_for(w.n, grain_for(w.k * (c.rows() + 1), kGrainMultiplications),
                 [&](uint64_t begin, uint64_t end, uint32_t worker) {
                   reference::linear(c.input(0), w.type, w.data, c.input(2), c.output(0), c.rows(), w.k, begin, end, w.n,
                                     floats(c, worker));
                 });
}

void compute_moe_linear(const Node& node, Compute& c) {
  const gainz_moe_linear_attr& attr = node.attr.moe_linear;
  const Weight w = c.weight(2);
  const reference::MoeLinear m{c.input(0), c.input_ids(1),  c.input(3), w.type, w.data, c.output(0),
                               c.rows(),   attr.num_chosen, w.count,    w.k,    w.n,    attr.rows_per_token != 1};
  c.parallel_for(
      w.n, grain_for(w.k * c.rows() * attr.num_chosen, kGrainMultiplications),
      [&](uint64_t begin, uint64_t end, uint32_t worker) { reference::moe_linear(m, begin, end, floats(c, worker)); });
}

void compute_rope(const Node& node, Compute& c) {
  const gainz_rope_attr& attr = node.attr.rope;
  const uint64_t cols = node.input(0).cols();
  c.parallel_for(c.rows(), grain_for(cols, kGrainValues), [&](uint64_t begin, uint64_t end, uint32_t worker) {
    float* inverse = floats(c, worker);
    reference::rope_frequencies(attr, c.input(1), inverse);
    reference::rope(c.input(0) + begin * cols, c.step().positions + begin, attr, inverse, c.output(0) + begin * cols,
                    end - begin, inverse + attr.rotary_dim / 2);
  });
}

// The sequence that holds a token: the last one that begins at it or before it.
uint64_t sequence_of(const gainz_step& step, uint64_t token) {
  const uint32_t* end = step.query_offsets + step.num_sequences + 1;
  return static_cast<uint64_t>(std::upper_bound(step.query_offsets, end, token) - step.query_offsets) - 1;
}

void compute_attention(const Node& node, Compute& c) {
  const gainz_attention_attr& attr = node.attr.attention;
  const gainz_step_pages pages = c.pages();
  const reference::KvLayer layer = c.kv();
  const uint32_t longest = *std::max_element(c.step().context_lengths, c.step().context_lengths + c.step().num_sequences);
  const uint64_t work_each = uint64_t{longest} * (attr.k_head_dim + attr.v_head_dim);
  c.parallel_for(c.rows() * attr.num_heads, grain_for(work_each, kGrainMultiplications),
                 [&](uint64_t begin, uint64_t end, uint32_t worker) {
                   for (uint64_t i = begin; i < end; ++i) {
                     const uint64_t token = i / attr.num_heads;
                     const uint64_t head = i % attr.num_heads;
                     const uint32_t* page_row = pages.page_table + sequence_of(c.step(), token) * pages.page_table_stride;
                     reference::attention_head(c.input(0) + i * attr.k_head_dim, head,
                                               static_cast<uint64_t>(c.step().positions[token]), page_row, layer, attr,
                                               c.output(0) + i * attr.v_head_dim, floats(c, worker));
                   }
                 });
}

void compute_norm(const Node& node, Compute& c) {
  const gainz_norm_attr& attr = node.attr.norm;
  const uint64_t cols = node.input(0).cols();
  for_rows(c, cols, [&](uint64_t begin, uint64_t end) {
    const float* x = c.input(0) + begin * cols;
    float* out = c.output(0) + begin * cols;
    if (node.op == GAINZ_OP_RMSNORM) {
      reference::rmsnorm(x, c.input(1), out, end - begin, attr.num_groups, cols / attr.num_groups, attr.epsilon);
    } else {
      reference::layernorm(x, c.input(1), c.input(2), out, end - begin, cols, attr.epsilon);
    }
  });
}

void compute_elementwise(const Node& node, Compute& c) {
  const uint64_t cols = node.output(0).cols();
  if (node.op == GAINZ_OP_MUL && node.input(1).kind == GAINZ_VALUE_WEIGHT) {
    return for_rows(c, cols, [&](uint64_t begin, uint64_t end) {
      reference::mul_row(c.input(0) + begin * cols, c.input(1), c.output(0) + begin * cols, end - begin, cols);
    });
  }
  for_values(c, cols, [&](uint64_t begin, uint64_t end) {
    const float* a = c.input(0) + begin;
    const float* b = node.num_inputs > 1 ? c.input(1) + begin : nullptr;
    float* out = c.output(0) + begin;
    const uint64_t n = end - begin;
    switch (node.op) {
      case GAINZ_OP_ACTIVATION:
        return reference::activation(node.attr.activation.kind, a, out, n);
      case GAINZ_OP_GATED_ACTIVATION:
        return reference::gated_activation(node.attr.activation.kind, a, b, out, n);
      case GAINZ_OP_ADD:
        return reference::add(a, b, out, n);
      case GAINZ_OP_MUL:
        return reference::mul(a, b, out, n);
      case GAINZ_OP_SCALE:
        return reference::scale(a, node.attr.scale.scale, out, n);
      case GAINZ_OP_SOFTCAP:
        return reference::softcap(a, node.attr.scale.scale, out, n);
      default:
        return;
    }
  });
}

void compute_moe_route(const Node& node, Compute& c) {
  const uint64_t num_experts = node.input(0).cols();
  const uint64_t k = node.attr.moe_route.num_chosen;
  c.parallel_for(c.rows(), grain_for(num_experts, kGrainValues), [&](uint64_t begin, uint64_t end, uint32_t worker) {
    for (uint64_t t = begin; t < end; ++t) {
      reference::moe_route(c.input(0) + t * num_experts, num_experts, node.attr.moe_route, c.output_ids(0) + t * k,
                           c.output(1) + t * k, floats(c, worker));
    }
  });
}

void compute_rows_out(const Node& node, Compute& c) {
  const uint64_t cols = node.input(0).cols();
  const gainz_step& step = c.step();
  for_rows(c, cols, [&](uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      const float* x = c.input(0) + r * cols;
      if (node.op == GAINZ_OP_GATHER_ROWS) {
        reference::gather_rows(c.input(0), step.output_rows + r, c.output(0) + r * cols, 1, cols);
      } else if (node.op == GAINZ_OP_TOP_K) {
        const uint64_t k = node.attr.top_k.num_chosen;
        reference::top_k(x, cols, k, c.output(0) + r * k, c.output_ids(1) + r * k);
      } else if (step.logit_masks != nullptr) {
        reference::logit_mask(x, step.logit_masks + r * step.logit_mask_stride, c.output(0) + r * cols, cols);
      } else {
        std::copy_n(x, cols, c.output(0) + r * cols);
      }
    }
  });
}

void compute_embed(Compute& c) {
  const Weight w = c.weight(0);
  for_rows(c, w.k, [&](uint64_t begin, uint64_t end) {
    reference::embed(c.step().tokens + begin, w.type, w.data, c.output(0) + begin * w.k, end - begin, w.k);
  });
}

void compute_kv_write(Compute& c) {
  const reference::KvLayer layer = c.kv();
  const gainz_step_pages pages = c.pages();
  // On one thread: padding may send several tokens to one scratch slot.
  reference::kv_write(c.input(0), c.input(1), pages.slots, c.rows(), layer);
}

}  // namespace

bool reference_supports(const Node& node) { return node.op != 0 && node.op < GAINZ_OP_COUNT; }

uint64_t reference_scratch_bytes(const Node& node, const gainz_bucket& bucket) {
  const uint64_t context = uint64_t{bucket.max_pages_per_sequence} * GAINZ_PAGE_TOKENS;
  switch (node.op) {
    case GAINZ_OP_LINEAR:
      return node.input(1).dims[0] * sizeof(float);
    case GAINZ_OP_MOE_LINEAR: {
      const uint64_t rows = node.input(0).rows == GAINZ_ROWS_TOKENS ? bucket.max_tokens : bucket.max_output_rows;
      return reference::moe_linear_room(rows, node.attr.moe_linear.num_chosen, node.input(2).dims[0]) * sizeof(float);
    }
    case GAINZ_OP_MOE_ROUTE:
      return node.input(0).cols() * sizeof(float);
    case GAINZ_OP_ROPE:
      return uint64_t{node.attr.rope.rotary_dim} * 2 * sizeof(float);
    case GAINZ_OP_ATTENTION:
      return reference::attention_room(node.attr.attention, context) * sizeof(float);
    default:
      return 0;
  }
}

void reference_compute(const Node& node, Compute& c) {
  switch (node.op) {
    case GAINZ_OP_EMBED:
      return compute_embed(c);
    case GAINZ_OP_RMSNORM:
    case GAINZ_OP_LAYERNORM:
      return compute_norm(node, c);
    case GAINZ_OP_LINEAR:
      return compute_linear(c);
    case GAINZ_OP_ROPE:
      return compute_rope(node, c);
    case GAINZ_OP_KV_WRITE:
      return compute_kv_write(c);
    case GAINZ_OP_ATTENTION:
      return compute_attention(node, c);
    case GAINZ_OP_MOE_ROUTE:
      return compute_moe_route(node, c);
    case GAINZ_OP_MOE_LINEAR:
      return compute_moe_linear(node, c);
    case GAINZ_OP_GATHER_ROWS:
    case GAINZ_OP_LOGIT_MASK:
    case GAINZ_OP_TOP_K:
      return compute_rows_out(node, c);
    default:
      return compute_elementwise(node, c);
  }
}

}  // namespace gainz::sdk
